package moqt

import (
	"errors"
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// ErrPair says that a key-value pair or a token inside one is malformed, for
// which the session closes with [CloseKeyValueFormatting]. Decode wraps it
// beside the sentinel of package wire that says what is wrong.
var ErrPair = errors.New("malformed key-value pair")

// pairTypes writes and reads the types of one run of key-value pairs (§3.1):
// plain numbers, or from 16 on each the distance to the one before.
type pairTypes struct {
	delta bool
	prev  uint64
}

func (v Version) pairTypes() pairTypes { return pairTypes{delta: v.hasDeltaTypes()} }

// append appends a type. Where types are distances callers go upwards.
func (p *pairTypes) append(b []byte, enc wire.Encoding, id uint64) []byte {
	n := id
	if p.delta {
		n, p.prev = id-p.prev, id
	}
	return enc.AppendVarint(b, n)
}

// read reads a type; 0 after an error.
func (p *pairTypes) read(r *wire.Reader) uint64 {
	n := r.Varint()
	if !p.delta {
		return n
	}
	if p.prev+n < n {
		r.Fail(fmt.Errorf("type %d after %d: %w", n, p.prev, wire.ErrTooLarge))
		return 0
	}
	p.prev += n
	return p.prev
}

// pairs appends a counted or bare run of pairs, which go upwards by type.
type pairs struct {
	b     []byte
	enc   wire.Encoding
	types pairTypes
	count int // where the byte with the number of pairs is; -1 = none
}

// countedPairs starts a run with its count in front. It stays below 64, which
// is one byte in both encodings.
func countedPairs(b []byte, v Version) *pairs {
	return &pairs{append(b, 0), v.Encoding(), v.pairTypes(), len(b)}
}

func barePairs(b []byte, v Version) *pairs {
	return &pairs{b, v.Encoding(), v.pairTypes(), -1}
}

func (p *pairs) start(id uint64) {
	if p.count >= 0 {
		p.b[p.count]++
	}
	p.b = p.types.append(p.b, p.enc, id)
}

func (p *pairs) number(id, n uint64) {
	p.start(id)
	p.b = p.enc.AppendVarint(p.b, n)
}

func (p *pairs) string(id uint64, s string) {
	p.start(id)
	p.b = p.enc.AppendString(p.b, s)
}

// nested appends a pair whose value is a length and what build appends.
func (p *pairs) nested(id uint64, build func(b []byte) []byte) {
	p.start(id)
	start := len(p.b)
	p.b = p.enc.PrefixLength(build(p.b), start)
}
