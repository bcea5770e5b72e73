package wire

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
)

// MaxVarint is the largest number QUIC and Leading can carry, 2^62-1. Ids,
// costs and sequences stay at or below it in every dialect.
const MaxVarint = 1<<62 - 1

// Encoding is one way to write an unsigned integer in a variable number of bytes (§3).
type Encoding uint8

const (
	// QUIC is RFC 9000 §16: the top two bits of the first byte give the length,
	// 1, 2, 4 or 8 bytes. moq-lite 01 to 06, moqt 14 to 16, qmux.
	QUIC Encoding = iota
	// Leading counts the leading one bits of the first byte: n of them, then a
	// zero, is a length of n+1; eight is a length of 9. Numbers above MaxVarint
	// are refused on receipt. moq-lite 07.
	Leading
	// Leading64 is Leading with the full range up to 2^64-1. moqt 18 and later.
	Leading64
	// LeadingNo7 is Leading64 without its form of 7 bytes, which is refused on
	// receipt. moqt 17.
	LeadingNo7
)

// AppendVarint appends v in the QUIC encoding. See [Encoding.AppendVarint].
func AppendVarint(b []byte, v uint64) []byte { return QUIC.AppendVarint(b, v) }

// AppendVarint appends v in the shortest form the encoding's senders use.
// Callers keep v at or below MaxVarint (Leading64 and LeadingNo7: any v): Parse returns
// nothing above it, so only arithmetic on a parsed value can get there. In
// QUIC the two bits too many are lost.
func (e Encoding) AppendVarint(b []byte, v uint64) []byte {
	switch n := e.VarintLen(v); n {
	case 1:
		return append(b, byte(v))
	case 9:
		return binary.BigEndian.AppendUint64(append(b, 0xff), v)
	default:
		var be [8]byte
		binary.BigEndian.PutUint64(be[:], v)
		be[8-n] = be[8-n]&e.valueMask(n) | e.lengthBits(n)
		return append(b, be[8-n:]...)
	}
}

// VarintLen returns how many bytes AppendVarint writes for v.
func (e Encoding) VarintLen(v uint64) int {
	if e == QUIC {
		switch {
		case v < 1<<6:
			return 1
		case v < 1<<14:
			return 2
		case v < 1<<30:
			return 4
		default:
			return 8
		}
	}
	switch n := (bits.Len64(v|1) + 6) / 7; {
	case n < 7:
		return n
	case v < 1<<56:
		return 8 // senders never use the 7-byte form
	default:
		return 9
	}
}

// Parse reads one varint from the front of b and returns it with its length.
// n is 0 when b ends before the varint does. Longer forms than needed are
// accepted. The error is ErrTooLarge for a Leading number above MaxVarint,
// ErrValue for a form that LeadingNo7 leaves out.
func (e Encoding) Parse(b []byte) (v uint64, n int, err error) {
	if len(b) == 0 {
		return 0, 0, nil
	}
	size := e.formLen(b[0])
	if len(b) < size {
		return 0, 0, nil
	}
	v = uint64(b[0] & e.valueMask(size))
	for _, c := range b[1:size] {
		v = v<<8 | uint64(c)
	}
	if err := e.check(v, size); err != nil {
		return 0, 0, err
	}
	return v, size, nil
}

// ReadVarint reads one varint from r. It returns io.EOF only when r ends before
// the first byte, io.ErrUnexpectedEOF when it ends inside.
func (e Encoding) ReadVarint(r io.ByteReader) (uint64, error) {
	first, err := r.ReadByte()
	if err != nil {
		return 0, err
	}
	size := e.formLen(first)
	v := uint64(first & e.valueMask(size))
	for range size - 1 {
		c, err := r.ReadByte()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return 0, err
		}
		v = v<<8 | uint64(c)
	}
	if err := e.check(v, size); err != nil {
		return 0, err
	}
	return v, nil
}

func (e Encoding) check(v uint64, size int) error {
	switch {
	case v > MaxVarint && e == Leading:
		return fmt.Errorf("varint %d: %w", v, ErrTooLarge)
	case size == 7 && e == LeadingNo7:
		return fmt.Errorf("varint of 7 bytes: %w", ErrValue)
	}
	return nil
}

// formLen is the whole length of a varint that starts with first.
func (e Encoding) formLen(first byte) int {
	if e == QUIC {
		return 1 << (first >> 6)
	}
	return bits.LeadingZeros8(^first) + 1
}

// valueMask selects the bits of the first byte that belong to the value.
func (e Encoding) valueMask(size int) byte {
	if e == QUIC {
		return 0x3f
	}
	return 0xff >> size
}

// lengthBits is the first byte of a varint of that size, without its value; size is 2 to 8.
func (e Encoding) lengthBits(size int) byte {
	if e == QUIC {
		return byte(bits.Len(uint(size))-1) << 6
	}
	return ^byte(0xff >> (size - 1))
}
