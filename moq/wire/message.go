package wire

import (
	"fmt"
	"io"
	"slices"
)

// readStep bounds how far ahead of the bytes that have arrived a body's buffer grows.
const readStep = 64 << 10

// ByteReader is what messages are read from; *bufio.Reader is one.
type ByteReader interface {
	io.Reader
	io.ByteReader
}

// ReadMessage reads one message, a length and that many bytes (§3.1), and
// returns its body. A length above limit is refused with ErrTooLarge before
// anything of the body is read. The body is in buf's memory where that is
// large enough, and never grows more than 64 KiB ahead of what arrived.
//
// The error is io.EOF only at the end of r before the first byte.
func ReadMessage(r ByteReader, enc Encoding, limit uint64, buf []byte) ([]byte, error) {
	n, err := enc.ReadVarint(r)
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, fmt.Errorf("message of %d bytes, limit %d: %w", n, limit, ErrTooLarge)
	}
	return ReadBody(r, n, buf)
}

// ReadBody reads exactly n bytes the way ReadMessage does, for framings whose
// length is written differently; the caller has checked n against its bound.
// A shorter r is io.ErrUnexpectedEOF.
func ReadBody(r io.Reader, n uint64, buf []byte) ([]byte, error) {
	buf = buf[:0]
	for have := uint64(0); have < n; have = uint64(len(buf)) {
		step := int(min(n-have, readStep))
		buf = slices.Grow(buf, step)
		got, err := io.ReadFull(r, buf[have:have+uint64(step)])
		buf = buf[:have+uint64(got)]
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
	}
	return buf, nil
}

// PrefixLength puts the length of b[start:] in front of it, which makes what was
// appended since start one message:
//
//	start := len(b)
//	b = append(b, body...)
//	b = enc.PrefixLength(b, start)
func (e Encoding) PrefixLength(b []byte, start int) []byte {
	n := len(b) - start
	size := e.VarintLen(uint64(n))
	b = append(b, make([]byte, size)...)
	copy(b[start+size:], b[start:start+n])
	e.AppendVarint(b[:start], uint64(n))
	return b
}
