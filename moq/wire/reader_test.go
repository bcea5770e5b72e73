package wire_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/moqmesh/moqmesh/moq/wire"
)

func TestReaderReadsInOrder(t *testing.T) {
	b := wire.AppendVarint(nil, 70000)
	b = append(b, 9)
	b = wire.AppendBool(b, true)
	b = wire.QUIC.AppendString(b, "café")
	b = wire.QUIC.AppendBytes(b, []byte{1, 2})
	b = wire.QUIC.AppendOptional(b, 0, false)
	b = wire.QUIC.AppendOptional(b, 0, true)
	b = wire.QUIC.AppendString(b, "/a//b/")
	b = wire.AppendVarint(b, 2)
	b = append(b, 7, 8)

	r := wire.NewReader(wire.QUIC, b)
	if got := r.Varint(); got != 70000 {
		t.Errorf("Varint = %d", got)
	}
	if got := r.Uint8(); got != 9 {
		t.Errorf("Uint8 = %d", got)
	}
	if !r.Bool() {
		t.Error("Bool = false")
	}
	if got := r.String(5); got != "café" {
		t.Errorf("String = %q", got)
	}
	if got := r.Bytes(2); !bytes.Equal(got, []byte{1, 2}) {
		t.Errorf("Bytes = %x", got)
	}
	if v, ok := r.Optional(); v != 0 || ok {
		t.Errorf("absent Optional = %d, %t", v, ok)
	}
	if v, ok := r.Optional(); v != 0 || !ok {
		t.Errorf("present Optional = %d, %t", v, ok)
	}
	if got := r.Path(10); got != "a/b" {
		t.Errorf("Path = %q", got)
	}
	if got := r.Count(2); got != 2 {
		t.Errorf("Count = %d", got)
	}
	if got := r.Len(); got != 2 {
		t.Errorf("Len = %d", got)
	}
	if got := r.Rest(); !bytes.Equal(got, []byte{7, 8}) {
		t.Errorf("Rest = %x", got)
	}
	if err := r.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
}

func TestReaderRefuses(t *testing.T) {
	huge := wire.AppendVarint(nil, wire.MaxVarint)
	tests := []struct {
		name string
		body []byte
		read func(r *wire.Reader)
		want error
	}{
		{"varint of nothing", nil, func(r *wire.Reader) { r.Varint() }, wire.ErrShort},
		{"half a varint", []byte{0x40}, func(r *wire.Reader) { r.Varint() }, wire.ErrShort},
		{"byte of nothing", nil, func(r *wire.Reader) { r.Uint8() }, wire.ErrShort},
		{"bool 2", []byte{2}, func(r *wire.Reader) { r.Bool() }, wire.ErrValue},
		{"string above its limit", []byte{2, 'a', 'b'}, func(r *wire.Reader) { r.String(1) }, wire.ErrTooLarge},
		{"string beyond the body", []byte{2, 'a'}, func(r *wire.Reader) { r.String(2) }, wire.ErrShort},
		{"string of a claimed 2^62", huge, func(r *wire.Reader) { r.String(1 << 30) }, wire.ErrTooLarge},
		{"string not UTF-8", []byte{1, 0xff}, func(r *wire.Reader) { r.String(1) }, wire.ErrUTF8},
		{"text not UTF-8", []byte{0xff}, func(r *wire.Reader) { r.Text() }, wire.ErrUTF8},
		{"count above its limit", []byte{3, 0, 0, 0}, func(r *wire.Reader) { r.Count(2) }, wire.ErrTooMany},
		{"count beyond the body", []byte{3, 0, 0}, func(r *wire.Reader) { r.Count(3) }, wire.ErrShort},
		{"bytes left over", []byte{1, 2}, func(r *wire.Reader) { r.Uint8() }, wire.ErrTrailing},
		{"a caller's own", []byte{1}, func(r *wire.Reader) { r.Uint8(); r.Fail(wire.ErrDuplicate) }, wire.ErrDuplicate},
		{"the first, not the second", nil, func(r *wire.Reader) { r.Uint8(); r.Fail(wire.ErrDuplicate) }, wire.ErrShort},
	}
	for _, tt := range tests {
		r := wire.NewReader(wire.QUIC, tt.body)
		tt.read(&r)
		if err := r.Close(); !errors.Is(err, tt.want) {
			t.Errorf("%s: Close = %v, want %v", tt.name, err, tt.want)
		}
		if r.Err() != nil && (r.Varint() != 0 || r.Rest() != nil || r.Len() != 0) {
			t.Errorf("%s: a Reader with an error still reads", tt.name)
		}
	}
}

func TestReaderSaturates(t *testing.T) {
	above := append(bytes.Repeat([]byte{0xff}, 9), 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0)
	r := wire.NewReader(wire.Leading, above)
	if got := r.Saturating(); got != wire.MaxVarint || r.Err() != nil {
		t.Errorf("Saturating = %d, %v, want %d", got, r.Err(), uint64(wire.MaxVarint))
	}
	if r.Varint(); !errors.Is(r.Err(), wire.ErrTooLarge) {
		t.Errorf("Varint after Saturating: %v, want %v", r.Err(), wire.ErrTooLarge)
	}
}

// A group bound that is plain in one dialect must not overflow in the next.
func TestAppendOptionalAtTheTop(t *testing.T) {
	for _, v := range []uint64{wire.MaxVarint - 1, wire.MaxVarint} {
		r := wire.NewReader(wire.QUIC, wire.QUIC.AppendOptional(nil, v, true))
		if got, ok := r.Optional(); got != wire.MaxVarint-1 || !ok {
			t.Errorf("Optional of %d reads as %d, %t", v, got, ok)
		}
	}
}
