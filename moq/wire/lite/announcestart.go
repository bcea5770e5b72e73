package lite

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// AnnounceStart says that a broadcast is reachable through the sender,
// ANNOUNCE_START (§6.4). It takes the next announce id of its stream, counted
// from 0 by both sides. 06-wip and later.
type AnnounceStart struct {
	Suffix string   // below the requested prefix, clean; at most MaxPath bytes
	Hops   []uint64 // from the origin up to but without the sender; at most MaxHops
	Cost   Cost
}

// Append appends the framed message. On 07 it refers to no earlier
// announcement; an [AnnounceCompressor] writes it shorter.
func (m AnnounceStart) Append(b []byte, v Version) []byte {
	if v.HasCompression() {
		return compressedStart{path: compressedPath{rest: m.Suffix}, hops: compressedHops{literal: m.Hops}, cost: m.Cost}.append(b, v)
	}
	enc := v.Encoding()
	b = enc.AppendVarint(b, uint64(TypeAnnounceStart))
	start := len(b)
	b = enc.AppendString(b, m.Suffix)
	b = appendHops(b, v, m.Hops)
	b = m.Cost.append(b, v)
	return enc.PrefixLength(b, start)
}

// DecodeAnnounceStart decodes a body. On 07 one that refers to an earlier
// announcement is wire.ErrValue: that takes an [AnnounceExpander].
func DecodeAnnounceStart(body []byte, v Version) (m AnnounceStart, err error) {
	if v.HasCompression() {
		return decodeLiteralStart(body, v)
	}
	r := v.reader(body)
	m.Suffix = r.Path(MaxPath)
	m.Hops = readHops(&r)
	m.Cost = readCost(&r, v)
	return m, finish(&r, "ANNOUNCE_START")
}

func decodeLiteralStart(body []byte, v Version) (AnnounceStart, error) {
	c, err := decodeCompressedStart(body, v)
	if err == nil && (c.path.base != 0 || c.hops.base != 0) {
		err = fmt.Errorf("decode ANNOUNCE_START: base without its stream: %w", wire.ErrValue)
	}
	return AnnounceStart{Suffix: c.path.rest, Hops: c.hops.literal, Cost: c.cost}, err
}
