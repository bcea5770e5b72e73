package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/moqmesh/moqmesh/moq/wire"
)

var encodings = []wire.Encoding{wire.QUIC, wire.Leading, wire.Leading64, wire.LeadingNo7}

// Numbers of every magnitude survive, and the shortest form that is allowed is the one sent.
func TestVarintRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		enc := rapid.SampledFrom(encodings).Draw(t, "encoding")
		v := rapid.Uint64().Draw(t, "v") >> rapid.IntRange(0, 63).Draw(t, "shift")
		if enc < wire.Leading64 {
			v &= wire.MaxVarint
		}
		b := enc.AppendVarint([]byte("head"), v)[4:]
		if len(b) != enc.VarintLen(v) {
			t.Fatalf("AppendVarint(%d) wrote %d bytes, VarintLen says %d", v, len(b), enc.VarintLen(v))
		}
		got, n, err := enc.Parse(append(b, 0xff))
		if got != v || n != len(b) || err != nil {
			t.Fatalf("Parse(%x) = %d, %d, %v, want %d", b, got, n, err, v)
		}
		if v > 0 && enc.VarintLen(v-1) > len(b) {
			t.Fatalf("%d is longer than %d", v-1, v)
		}
	})
}

// Parse and ReadVarint agree on any bytes.
func TestVarintReadersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		enc := rapid.SampledFrom(encodings).Draw(t, "encoding")
		b := rapid.SliceOfN(rapid.Byte(), 0, 10).Draw(t, "b")
		v, n, err := enc.Parse(b)
		src := bytes.NewReader(b)
		got, readErr := enc.ReadVarint(src)
		switch {
		case n > 0:
			if got != v || readErr != nil || src.Len() != len(b)-n {
				t.Fatalf("ReadVarint(%x) = %d, %v, want %d", b, got, readErr, v)
			}
		case err != nil:
			if readErr == nil || readErr.Error() != err.Error() {
				t.Fatalf("ReadVarint(%x) = %v, want %v", b, readErr, err)
			}
		case len(b) == 0:
			if readErr != io.EOF {
				t.Fatalf("ReadVarint of nothing = %v, want EOF", readErr)
			}
		default:
			if readErr != io.ErrUnexpectedEOF {
				t.Fatalf("ReadVarint(%x) = %v, want unexpected EOF", b, readErr)
			}
		}
	})
}

func TestParseForms(t *testing.T) {
	tests := []struct {
		enc  wire.Encoding
		in   []byte
		want uint64
		err  error
	}{
		{wire.QUIC, []byte{0x40, 0x00}, 0, nil},
		{wire.QUIC, []byte{0xc0, 0, 0, 0, 0, 0, 0, 5}, 5, nil},
		{wire.Leading, []byte{0x80, 0x05}, 5, nil},
		{wire.Leading, []byte{0xfc, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc}, 0x123456789abc, nil},
		{wire.Leading, []byte{0xfd, 0, 0, 0, 0, 0, 0}, 1 << 48, nil},
		{wire.Leading, []byte{0xff, 0x3f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, wire.MaxVarint, nil},
		{wire.Leading, []byte{0xff, 0x40, 0, 0, 0, 0, 0, 0, 0}, 0, wire.ErrTooLarge},
		{wire.Leading64, []byte{0xff, 0x40, 0, 0, 0, 0, 0, 0, 0}, 1 << 62, nil},
		{wire.Leading64, bytes.Repeat([]byte{0xff}, 9), math.MaxUint64, nil},
		{wire.Leading64, []byte{0xfc, 0, 0, 0, 0, 0, 5}, 5, nil},
		{wire.LeadingNo7, []byte{0xfc, 0, 0, 0, 0, 0, 5}, 0, wire.ErrValue},
		{wire.LeadingNo7, []byte{0xfe, 0, 0, 0, 0, 0, 0, 5}, 5, nil},
		{wire.LeadingNo7, bytes.Repeat([]byte{0xff}, 9), math.MaxUint64, nil},
	}
	for _, tt := range tests {
		if got, _, err := tt.enc.Parse(tt.in); got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%d.Parse(%x) = %d, %v, want %d, %v", tt.enc, tt.in, got, err, tt.want, tt.err)
		}
		if got, err := tt.enc.ReadVarint(bytes.NewReader(tt.in)); got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%d.ReadVarint(%x) = %d, %v, want %d, %v", tt.enc, tt.in, got, err, tt.want, tt.err)
		}
	}
}

// "Send the shortest form but never the 7-byte one."
func TestLeadingSkipsSevenBytes(t *testing.T) {
	for v, want := range map[uint64]int{1<<42 - 1: 6, 1 << 42: 8, 1<<49 - 1: 8, 1<<56 - 1: 8, 1 << 56: 9} {
		if got := len(wire.Leading.AppendVarint(nil, v)); got != want {
			t.Errorf("%d takes %d bytes, want %d", v, got, want)
		}
	}
}

func TestReadVarintPassesErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	for _, b := range [][]byte{nil, {0x40}} {
		r := io.MultiReader(bytes.NewReader(b), failingReader{broken})
		if _, err := wire.QUIC.ReadVarint(byteReader{r}); !errors.Is(err, broken) {
			t.Errorf("ReadVarint after %x = %v, want %v", b, err, broken)
		}
	}
}

func TestZigzagRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(wire.MinDelta, wire.MaxDelta).Draw(t, "n")
		u := wire.Zigzag(n)
		if got := wire.Unzigzag(u); got != n || u > wire.MaxVarint {
			t.Fatalf("Zigzag(%d) = %d, which is %d again", n, u, got)
		}
	})
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// byteReader reads one byte at a time from a plain reader.
type byteReader struct{ io.Reader }

func (r byteReader) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(r, b[:])
	return b[0], err
}

func BenchmarkParse(b *testing.B) {
	for _, enc := range encodings {
		b.Run(fmt.Sprint(enc), func(b *testing.B) {
			in := enc.AppendVarint(nil, 70000)
			for b.Loop() {
				if _, n, _ := enc.Parse(in); n == 0 {
					b.Fatal("not parsed")
				}
			}
		})
	}
}
