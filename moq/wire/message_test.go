package wire_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/moqmesh/moqmesh/moq/wire"
)

func message(enc wire.Encoding, body []byte) []byte {
	return enc.PrefixLength(append([]byte("ahead"), body...), 5)
}

func TestReadMessage(t *testing.T) {
	for _, enc := range encodings {
		for _, size := range []int{0, 1, 63, 64, 127, 128, 16384, 65536, 65537, 200000} {
			body := bytes.Repeat([]byte{0xa5}, size)
			framed := message(enc, body)
			if !bytes.HasPrefix(framed, []byte("ahead")) {
				t.Fatalf("PrefixLength changed what was before the message")
			}
			r := bufio.NewReader(iotest.HalfReader(bytes.NewReader(framed[5:])))
			got, err := wire.ReadMessage(r, enc, uint64(size), nil)
			if err != nil || !bytes.Equal(got, body) {
				t.Errorf("encoding %d, %d bytes: read %d bytes, %v", enc, size, len(got), err)
			}
			if _, err := wire.ReadMessage(r, enc, 1, nil); err != io.EOF {
				t.Errorf("after the last message: %v, want EOF", err)
			}
		}
	}
}

func TestReadMessageTruncated(t *testing.T) {
	framed := message(wire.QUIC, bytes.Repeat([]byte{1}, 100))[5:]
	for i := range framed[1:] {
		_, err := wire.ReadMessage(bytes.NewReader(framed[:i+1]), wire.QUIC, 100, nil)
		if err != io.ErrUnexpectedEOF {
			t.Fatalf("%d of %d bytes: %v, want unexpected EOF", i+1, len(framed), err)
		}
	}
}

func TestReadMessageRefusesBeforeReading(t *testing.T) {
	src := bytes.NewReader(message(wire.QUIC, []byte("body"))[5:])
	if _, err := wire.ReadMessage(src, wire.QUIC, 3, nil); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("4 bytes with a limit of 3: %v, want %v", err, wire.ErrTooLarge)
	}
	if src.Len() != 4 {
		t.Errorf("%d bytes of the body are left, want all 4", src.Len())
	}
}

func TestReadMessageReusesBuffer(t *testing.T) {
	framed := message(wire.QUIC, []byte("body"))[5:]
	buf := make([]byte, 3, 64)
	got, err := wire.ReadMessage(bytes.NewReader(framed), wire.QUIC, 64, buf)
	if err != nil || string(got) != "body" || &got[0] != &buf[0] {
		t.Errorf("ReadMessage = %q, %v; in the buffer: %t", got, err, &got[0] == &buf[0])
	}
	src := bytes.NewReader(framed)
	allocs := testing.AllocsPerRun(100, func() {
		src.Reset(framed)
		if _, err := wire.ReadMessage(src, wire.QUIC, 64, buf); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations with a buffer at hand", allocs)
	}
}

// A length is a claim: memory follows what arrives.
func TestReadMessageGrowsWithWhatArrives(t *testing.T) {
	const arrives = 300 << 10
	src := &widest{Reader: bytes.NewReader(append(wire.AppendVarint(nil, 1<<40), make([]byte, arrives)...))}
	if _, err := wire.ReadMessage(byteReader{src}, wire.QUIC, 1<<41, nil); err != io.ErrUnexpectedEOF {
		t.Errorf("the start of a tebibyte: %v, want unexpected EOF", err)
	}
	if src.most > 64<<10 {
		t.Errorf("made room for %d bytes at once", src.most)
	}
}

// widest remembers the most that was asked of it in one read.
type widest struct {
	io.Reader
	most int
}

func (r *widest) Read(p []byte) (int, error) {
	r.most = max(r.most, len(p))
	return r.Reader.Read(p)
}
