package lite

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// AnnounceUpdate replaces the hops and cost of a live announcement; its path
// and id stay. ANNOUNCE_UPDATE (§6.4). 06-wip and later.
type AnnounceUpdate struct {
	ID   uint64   // announce id
	Hops []uint64 // as in AnnounceStart
	Cost Cost
}

// Append appends the framed message; on 07 as [AnnounceStart.Append] does.
func (m AnnounceUpdate) Append(b []byte, v Version) []byte {
	if v.HasCompression() {
		return compressedUpdate{id: m.ID, hops: compressedHops{literal: m.Hops}, cost: m.Cost}.append(b, v)
	}
	enc := v.Encoding()
	b = enc.AppendVarint(b, uint64(TypeAnnounceUpdate))
	start := len(b)
	b = enc.AppendVarint(b, m.ID)
	b = appendHops(b, v, m.Hops)
	b = m.Cost.append(b, v)
	return enc.PrefixLength(b, start)
}

// DecodeAnnounceUpdate decodes a body; on 07 as [DecodeAnnounceStart] does.
func DecodeAnnounceUpdate(body []byte, v Version) (m AnnounceUpdate, err error) {
	if v.HasCompression() {
		return decodeLiteralUpdate(body, v)
	}
	r := v.reader(body)
	m.ID = r.Varint()
	m.Hops = readHops(&r)
	m.Cost = readCost(&r, v)
	return m, finish(&r, "ANNOUNCE_UPDATE")
}

func decodeLiteralUpdate(body []byte, v Version) (AnnounceUpdate, error) {
	c, err := decodeCompressedUpdate(body, v)
	if err == nil && c.hops.base != 0 {
		err = fmt.Errorf("decode ANNOUNCE_UPDATE: base without its stream: %w", wire.ErrValue)
	}
	return AnnounceUpdate{ID: c.id, Hops: c.hops.literal, Cost: c.cost}, err
}
