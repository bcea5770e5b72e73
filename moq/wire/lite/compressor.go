package lite

import (
	"slices"
	"strings"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// AnnounceCompressor writes the announcements of one announce stream, on any
// version with announce ids. On 07 it refers to earlier ones where that is
// shorter (§18.3), for which it remembers those that are live; before 07 it
// remembers nothing. Not safe for concurrent use.
type AnnounceCompressor struct {
	v     Version
	next  uint64 // announce id of the next START
	live  map[uint64]AnnounceStart
	heads announceIndex // by the leading segments of their suffix
	tails announceIndex // by the trailing hops of their chain
}

// NewAnnounceCompressor returns the compressor of a stream that has sent no
// announcement yet.
func NewAnnounceCompressor(v Version) *AnnounceCompressor {
	return &AnnounceCompressor{
		v:     v,
		live:  make(map[uint64]AnnounceStart),
		heads: make(announceIndex),
		tails: make(announceIndex),
	}
}

// AppendStart appends m, framed.
func (c *AnnounceCompressor) AppendStart(b []byte, m AnnounceStart) []byte {
	if !c.v.HasCompression() {
		return m.Append(b, c.v)
	}
	b = compressedStart{path: c.path(m.Suffix), hops: c.hops(m.Hops), cost: m.Cost}.append(b, c.v)
	m.Hops = slices.Clone(m.Hops)
	c.live[c.next] = m
	c.heads.add(c.next, heads(m.Suffix))
	c.tails.add(c.next, tails(m.Hops))
	c.next++
	return b
}

// AppendUpdate appends m, framed. Its id is that of a live announcement.
func (c *AnnounceCompressor) AppendUpdate(b []byte, m AnnounceUpdate) []byte {
	if !c.v.HasCompression() {
		return m.Append(b, c.v)
	}
	b = compressedUpdate{id: m.ID, hops: c.hops(m.Hops), cost: m.Cost}.append(b, c.v)
	if old, ok := c.live[m.ID]; ok {
		c.tails.remove(m.ID, tails(old.Hops))
		old.Hops = slices.Clone(m.Hops)
		c.live[m.ID] = old
		c.tails.add(m.ID, tails(old.Hops))
	}
	return b
}

// AppendEnd appends m, framed. Its id is that of a live announcement.
func (c *AnnounceCompressor) AppendEnd(b []byte, m AnnounceEnd) []byte {
	if old, ok := c.live[m.ID]; ok {
		c.heads.remove(m.ID, heads(old.Suffix))
		c.tails.remove(m.ID, tails(old.Hops))
		delete(c.live, m.ID)
	}
	return m.Append(b, c.v)
}

// path refers to the newest of the live suffixes that share the longest head
// with suffix, unless writing it out is as short.
func (c *AnnounceCompressor) path(suffix string) compressedPath {
	literal := compressedPath{rest: suffix}
	head, id, ok := c.heads.longest(heads(suffix))
	if !ok {
		return literal
	}
	rest, _ := wire.TrimPathPrefix(suffix, head)
	short := compressedPath{base: c.next - id, keep: uint64(strings.Count(head, "/") + 1), rest: rest}
	return shorter(short, literal, c.v)
}

// hops does the same for the longest shared tail of a chain.
func (c *AnnounceCompressor) hops(chain []uint64) compressedHops {
	literal := compressedHops{literal: chain}
	tail, id, ok := c.tails.longest(tails(chain))
	if !ok {
		return literal
	}
	keep := len(tail) / hopKeyLen
	short := compressedHops{base: c.next - id, literal: chain[:len(chain)-keep], keep: uint64(keep)}
	return shorter(short, literal, c.v)
}

// shorter returns short if it takes fewer bytes than literal.
func shorter[T interface {
	append(b []byte, v Version) []byte
}](short, literal T, v Version) T {
	var buf [512]byte
	if len(short.append(buf[:0], v)) < len(literal.append(buf[:0], v)) {
		return short
	}
	return literal
}
