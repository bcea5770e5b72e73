package lite

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// The announcements of 07 as they are on the wire (§18.3). A base is a distance
// back from the next unassigned announce id, so 1 is the latest START; 0 is
// none, and then nothing is kept.

// compressedPath is the first keep segments of the base's suffix, then rest.
type compressedPath struct {
	base uint64
	keep uint64
	rest string // clean
}

// compressedHops is a literal list, then the last keep hops of the base's.
type compressedHops struct {
	base    uint64
	literal []uint64
	keep    uint64
}

type compressedStart struct {
	path compressedPath
	hops compressedHops
	cost Cost
}

type compressedUpdate struct {
	id   uint64
	hops compressedHops
	cost Cost
}

func (p compressedPath) append(b []byte, v Version) []byte {
	enc := v.Encoding()
	b = enc.AppendVarint(b, p.base)
	b = enc.AppendVarint(b, p.keep)
	return enc.AppendString(b, p.rest)
}

func (h compressedHops) append(b []byte, v Version) []byte {
	enc := v.Encoding()
	b = enc.AppendVarint(b, h.base)
	b = appendHops(b, v, h.literal)
	return enc.AppendVarint(b, h.keep)
}

func (m compressedStart) append(b []byte, v Version) []byte {
	enc := v.Encoding()
	b = enc.AppendVarint(b, uint64(TypeAnnounceStart))
	start := len(b)
	b = m.path.append(b, v)
	b = m.hops.append(b, v)
	b = m.cost.append(b, v)
	return enc.PrefixLength(b, start)
}

func (m compressedUpdate) append(b []byte, v Version) []byte {
	enc := v.Encoding()
	b = enc.AppendVarint(b, uint64(TypeAnnounceUpdate))
	start := len(b)
	b = enc.AppendVarint(b, m.id)
	b = m.hops.append(b, v)
	b = m.cost.append(b, v)
	return enc.PrefixLength(b, start)
}

func readCompressedPath(r *wire.Reader) (p compressedPath) {
	p.base = r.Varint()
	p.keep = r.Varint()
	p.rest = r.Path(MaxPath)
	checkBase(r, p.base, p.keep)
	return p
}

func readCompressedHops(r *wire.Reader) (h compressedHops) {
	h.base = r.Varint()
	h.literal = readHops(r)
	h.keep = r.Varint()
	checkBase(r, h.base, h.keep)
	return h
}

func checkBase(r *wire.Reader, base, keep uint64) {
	if base == 0 && keep != 0 {
		r.Fail(fmt.Errorf("keep %d of no base: %w", keep, wire.ErrValue))
	}
}

func decodeCompressedStart(body []byte, v Version) (m compressedStart, err error) {
	r := v.reader(body)
	m.path = readCompressedPath(&r)
	m.hops = readCompressedHops(&r)
	m.cost = readCost(&r, v)
	return m, finish(&r, "ANNOUNCE_START")
}

func decodeCompressedUpdate(body []byte, v Version) (m compressedUpdate, err error) {
	r := v.reader(body)
	m.id = r.Varint()
	m.hops = readCompressedHops(&r)
	m.cost = readCost(&r, v)
	return m, finish(&r, "ANNOUNCE_UPDATE")
}
