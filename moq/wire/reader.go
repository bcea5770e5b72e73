package wire

import (
	"fmt"
	"unicode/utf8"
)

// Reader takes fields off the front of one message body. It is sticky: after
// the first bad field every method returns zero values, and Close reports that
// field, so a decoder reads straight through and checks once.
//
// A Reader is used by one goroutine. It does not copy the body.
type Reader struct {
	enc  Encoding
	body []byte
	err  error
}

// NewReader returns a Reader over body, whose varints are in enc.
func NewReader(enc Encoding, body []byte) Reader {
	return Reader{enc: enc, body: body}
}

// Fail makes err the Reader's error unless it has one, for checks on values the
// Reader cannot judge.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
		r.body = nil
	}
}

// Err returns the error of the first bad field, nil if there was none so far.
func (r *Reader) Err() error { return r.err }

// Len returns how many bytes are left; 0 after an error.
func (r *Reader) Len() int { return len(r.body) }

// Close ends the body: the error of the first bad field, ErrTrailing if bytes
// are left, else nil.
func (r *Reader) Close() error {
	if r.err == nil && len(r.body) > 0 {
		return fmt.Errorf("%d %w", len(r.body), ErrTrailing)
	}
	return r.err
}

// Varint reads an unsigned integer.
func (r *Reader) Varint() uint64 {
	v, n, err := r.enc.Parse(r.body)
	switch {
	case err != nil:
		r.Fail(err)
	case n == 0:
		r.Fail(ErrShort)
	default:
		r.body = r.body[n:]
	}
	return v
}

// Saturating reads an unsigned integer like Varint, but takes a Leading number
// above MaxVarint as MaxVarint instead of refusing it.
func (r *Reader) Saturating() uint64 {
	enc := r.enc
	if enc == Leading {
		r.enc = Leading64
	}
	v := min(r.Varint(), MaxVarint)
	r.enc = enc
	return v
}

// Zigzag reads a signed delta.
func (r *Reader) Zigzag() int64 { return Unzigzag(r.Varint()) }

// Optional reads an integer that may be absent: 0 on the wire is none, v+1 is v.
func (r *Reader) Optional() (v uint64, ok bool) {
	if v = r.Varint(); v == 0 {
		return 0, false
	}
	return v - 1, true
}

// Uint8 reads one byte.
func (r *Reader) Uint8() uint8 {
	if len(r.body) == 0 {
		r.Fail(ErrShort)
		return 0
	}
	c := r.body[0]
	r.body = r.body[1:]
	return c
}

// Bool reads one byte that must be 0 or 1.
func (r *Reader) Bool() bool {
	c := r.Uint8()
	if c > 1 {
		r.Fail(fmt.Errorf("bool %d: %w", c, ErrValue))
	}
	return c == 1
}

// Bytes reads a length of at most limit and that many bytes. The result aliases
// the body.
func (r *Reader) Bytes(limit int) []byte {
	n := r.Varint()
	if n > uint64(limit) {
		r.Fail(fmt.Errorf("%d bytes, limit %d: %w", n, limit, ErrTooLarge))
		return nil
	}
	if n > uint64(len(r.body)) {
		r.Fail(ErrShort)
		return nil
	}
	p := r.body[:n:n]
	r.body = r.body[n:]
	return p
}

// String reads UTF-8 text of at most limit bytes. The result is a copy.
func (r *Reader) String(limit int) string {
	return r.text(r.Bytes(limit))
}

// Text takes all that is left as UTF-8 text. The result is a copy.
func (r *Reader) Text() string {
	return r.text(r.Rest())
}

func (r *Reader) text(p []byte) string {
	if !utf8.Valid(p) {
		r.Fail(ErrUTF8)
		return ""
	}
	return string(p)
}

// Path reads a string of at most limit bytes and normalises it as CleanPath does.
func (r *Reader) Path(limit int) string {
	path, err := CleanPath(r.String(limit))
	if err != nil {
		r.Fail(err)
	}
	return path
}

// Count reads the number of entries of a list, at most limit. Every entry takes
// at least a byte, so a count above what is left of the body is ErrShort: a
// caller may allocate for the result.
func (r *Reader) Count(limit int) int {
	n := r.Varint()
	switch {
	case n > uint64(limit):
		r.Fail(fmt.Errorf("%d entries, limit %d: %w", n, limit, ErrTooMany))
		return 0
	case n > uint64(len(r.body)):
		r.Fail(ErrShort)
		return 0
	}
	return int(n)
}

// Rest takes all that is left. The result aliases the body; nil after an error.
func (r *Reader) Rest() []byte {
	p := r.body
	r.body = nil
	return p
}
