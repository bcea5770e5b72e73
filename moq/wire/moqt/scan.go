package moqt

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// scanner takes fields off the front of bytes that have arrived so far. It is
// sticky: once a field is bad or not whole yet, every method returns zero
// values. It does not allocate.
type scanner struct {
	enc   wire.Encoding
	b     []byte
	n     int // bytes taken
	short bool
	err   error
}

func scan(b []byte, v Version) scanner { return scanner{enc: v.Encoding(), b: b} }

func (s *scanner) stopped() bool { return s.short || s.err != nil }

func (s *scanner) fail(err error) {
	if !s.stopped() {
		s.err = err
	}
}

func (s *scanner) varint() uint64 {
	if s.stopped() {
		return 0
	}
	if rest := s.b[s.n:]; len(rest) > 0 && rest[0] < 0x40 { // itself in every encoding
		s.n++
		return uint64(rest[0])
	}
	v, n, err := s.enc.Parse(s.b[s.n:])
	s.n += n
	s.err = err
	s.short = n == 0 && err == nil
	return v
}

// id takes a number of a group, subgroup or object, which stays at or below
// wire.MaxVarint in every draft so that any other dialect can carry it.
func (s *scanner) id() uint64 { return s.bounded(s.varint()) }

// bounded refuses an id above wire.MaxVarint. Sums of two ids do not overflow.
func (s *scanner) bounded(id uint64) uint64 {
	if id > wire.MaxVarint {
		s.fail(fmt.Errorf("id %d: %w", id, wire.ErrTooLarge))
		return 0
	}
	return id
}

func (s *scanner) uint8() uint8 {
	if s.stopped() || s.n == len(s.b) {
		s.short = s.err == nil
		return 0
	}
	c := s.b[s.n]
	s.n++
	return c
}

// bytes takes a length of at most limit and that many bytes, which alias b. A
// length above limit is refused before they have arrived.
func (s *scanner) bytes(limit int) []byte {
	size := s.varint()
	if size > uint64(limit) {
		s.fail(wire.ErrTooLarge)
	}
	if s.stopped() || size > uint64(len(s.b)-s.n) {
		s.short = s.err == nil
		return nil
	}
	p := s.b[s.n : s.n+int(size) : s.n+int(size)]
	s.n += int(size)
	return p
}

// payloadSize takes the length of an object's payload.
func (s *scanner) payloadSize() uint64 {
	size := s.varint()
	if size > MaxObject {
		s.fail(wire.ErrTooLarge)
	}
	return size
}

// done returns how many bytes the fields took: 0 when b ended before they did.
func (s *scanner) done() (n int, err error) {
	if s.stopped() {
		return 0, s.err
	}
	return s.n, nil
}
