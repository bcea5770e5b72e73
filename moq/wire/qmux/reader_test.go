package qmux

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/moqmesh/moqmesh/moq/wire"
)

var equalEmpty = cmpopts.EquateEmpty()

// appender is what every frame is on the way out.
type appender interface {
	Append(b []byte, v Version) []byte
}

func appendAll(b []byte, v Version, frames []any) []byte {
	for _, f := range frames {
		b = f.(appender).Append(b, v)
	}
	return b
}

func decodeAll(v Version, message []byte) (frames []any, err error) {
	r := NewReader(v, message)
	for {
		typ, err := r.Next()
		if err == io.EOF {
			return frames, nil
		}
		if err != nil {
			return frames, err
		}
		f, err := decode(&r, typ)
		if err != nil {
			return frames, err
		}
		frames = append(frames, f)
	}
}

func decode(r *Reader, typ Type) (any, error) {
	switch typ {
	case TypeStream:
		return r.Stream()
	case TypeResetStream, TypeResetStreamAt:
		return r.ResetStream()
	case TypeStopSending:
		return r.StopSending()
	case TypeMaxData:
		return r.MaxData()
	case TypeMaxStreamData:
		return r.MaxStreamData()
	case TypeMaxStreamsBidi, TypeMaxStreamsUni:
		return r.MaxStreams()
	case TypeConnectionClose, TypeApplicationClose:
		return r.Close()
	case TypeDatagram:
		return r.Datagram()
	case TypePingRequest, TypePingResponse:
		return r.Ping()
	case TypeParameters:
		return r.Parameters()
	}
	return nil, fmt.Errorf("type %#x returned by Next", uint64(typ))
}

func TestDecodeStreamTypes(t *testing.T) {
	streams := map[byte]Stream{
		0x08: {ID: 4, Data: []byte{2, 1, 'a'}},
		0x09: {ID: 4, Fin: true, Data: []byte{2, 1, 'a'}},
		0x0a: {ID: 4, Data: []byte{1, 'a'}}, // 2 is the length here, the offset below
		0x0b: {ID: 4, Fin: true, Data: []byte{1, 'a'}},
		0x0c: {ID: 4, Offset: 2, Data: []byte{1, 'a'}},
		0x0d: {ID: 4, Offset: 2, Fin: true, Data: []byte{1, 'a'}},
		0x0e: {ID: 4, Offset: 2, Data: []byte{'a'}},
		0x0f: {ID: 4, Offset: 2, Fin: true, Data: []byte{'a'}},
	}
	for typ, want := range streams {
		in := []byte{typ, 4, 2, 1, 'a'}
		got, err := decodeAll(V01, in)
		if err != nil || !cmp.Equal(got, []any{want}) {
			t.Errorf("decode %x = %+v, %v, want %+v", in, got, err, want)
		}
	}
}

func TestDecode(t *testing.T) {
	tests := []struct {
		name string
		v    Version
		in   []byte
		want []any
		err  error
	}{
		{"blocked frames are passed over", V01, []byte{0x14, 1, 0x15, 2, 3, 0x16, 4, 0x17, 5, 0x10, 6}, []any{MaxData{6}}, nil},
		{"blocked cut", V01, []byte{0x15, 2}, nil, wire.ErrShort},
		{"padding between", V02, []byte{0, 0, 0x10, 6, 0}, []any{MaxData{6}}, nil},
		{"padding in 00", V00, []byte{0}, nil, ErrUnknownFrame},
		{"datagram to the end", V01, []byte{0x30, 7, 8}, []any{Datagram{[]byte{7, 8}}}, nil},
		{"datagram in 00", V00, []byte{0x31, 1, 8}, nil, ErrUnknownFrame},
		{"ping in 00", V00, Ping{Sequence: 1}.Append(nil, V00), nil, ErrUnknownFrame},
		{"reset at", V02, []byte{0x24, 4, 1, 9, 5}, []any{ResetStream{4, 1, 9}}, nil},
		{"reset at in 01", V01, []byte{0x24, 4, 1, 9, 5}, nil, ErrUnknownFrame},
		{"second frame in 00", V00, []byte{0x10, 6, 0x10, 7}, []any{MaxData{6}}, wire.ErrTrailing},
		{"flow control in legacy", Legacy, []byte{0x10, 6}, nil, ErrUnknownFrame},
		{"offset in legacy", Legacy, []byte{0x0e, 0, 0, 0}, nil, ErrUnknownFrame},
		{"unknown", V01, []byte{0x3f}, nil, ErrUnknownFrame},
		{"length beyond the message", V01, []byte{0x0e, 0, 0, 2, 1}, nil, wire.ErrShort},
		{"older browser close with a reason", V00, []byte{0x1d, 3, 0, 2, 'n', 'o'}, []any{Close{true, 3, "no"}}, nil},
		{"reason that is no UTF-8", V01, []byte{0x1d, 3, 2, 0xff, 'n'}, []any{Close{true, 3, "n"}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := decodeAll(tt.v, tt.in)
			if !errors.Is(err, tt.err) || !cmp.Equal(got, tt.want, equalEmpty) {
				t.Errorf("decode %x = %+v, %v, want %+v, %v", tt.in, got, err, tt.want, tt.err)
			}
		})
	}
}

// "Repeated id, or a forbidden QUIC id (0x00, 0x02, 0x03, 0x0a-0x10): error.
// Other unknown ids ignored." (§2.6.5)
func TestBadParameters(t *testing.T) {
	tests := []struct {
		name string
		body []byte
		want error
	}{
		{"none", nil, nil},
		{"unknown", []byte{0x3f, 2, 1, 2}, nil},
		{"repeated", []byte{4, 1, 1, 4, 1, 1}, wire.ErrDuplicate},
		{"repeated unknown", []byte{0x3f, 0, 0x3f, 0}, wire.ErrDuplicate},
		{"original destination id", []byte{0x00, 0}, wire.ErrValue},
		{"max udp payload", []byte{0x03, 1, 1}, wire.ErrValue},
		{"retry source id", []byte{0x10, 0}, wire.ErrValue},
		{"number with a tail", []byte{4, 2, 1, 1}, wire.ErrTrailing},
		{"number cut", []byte{4, 1, 0x40}, wire.ErrShort},
		{"value cut", []byte{4, 2, 1}, wire.ErrShort},
		{"flag with a value", []byte{0x1d, 1, 0}, wire.ErrTrailing},
		{"idle that would overflow", []byte{1, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := wire.QUIC.AppendBytes(wire.AppendVarint(nil, uint64(TypeParameters)), tt.body)
			frames, err := decodeAll(V01, b)
			if !errors.Is(err, tt.want) {
				t.Fatalf("decode %x = %v, want %v", b, err, tt.want)
			}
			if err == nil && frames[0].(Parameters).MaxIdleTimeout < 0 {
				t.Error("idle timeout overflowed")
			}
		})
	}
}

func TestCloseReasonIsCut(t *testing.T) {
	long := strings.Repeat("é", MaxReason)
	for _, v := range []Version{Legacy, V01} {
		b := Close{Application: true, Code: 1, Reason: long}.Append(nil, v)
		frames, err := decodeAll(v, b)
		if err != nil {
			t.Fatal(err)
		}
		if got := frames[0].(Close).Reason; got != long[:MaxReason] {
			t.Errorf("%s: reason of %d bytes came back as %d", v, len(long), len(got))
		}
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	b, data := make([]byte, 0, 1024), make([]byte, 300)
	n := testing.AllocsPerRun(100, func() {
		b = Stream{ID: 2, Data: data}.Append(b[:0], V01)
		r := NewReader(V01, b)
		if typ, err := r.Next(); typ != TypeStream || err != nil {
			t.Fatal(typ, err)
		}
		if f, err := r.Stream(); len(f.Data) != 300 || err != nil {
			t.Fatal(f, err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations for a STREAM frame out and in", n)
	}
}

// FuzzReader decodes a message, writes it again and reads that: the frames stay.
func FuzzReader(f *testing.F) {
	for _, row := range loadVectors(f) {
		for _, v := range row.versions(f) {
			f.Add(byte(v), row.bytes(f))
		}
	}
	f.Fuzz(func(t *testing.T, version byte, message []byte) {
		v := Version(version % byte(len(tokens)))
		frames, err := decodeAll(v, bytes.Clone(message))
		if err != nil {
			return
		}
		b := appendAll(nil, v, frames)
		again, err := decodeAll(v, b)
		if err != nil {
			t.Fatalf("decode %x, written from %x: %v", b, message, err)
		}
		if diff := cmp.Diff(frames, again, equalEmpty); diff != "" {
			t.Fatalf("%x and %x differ:\n%s", message, b, diff)
		}
	})
}
