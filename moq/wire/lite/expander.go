package lite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// AnnounceExpander reads the announcements of one announce stream, on any
// version with announce ids; feed it every one, also those that are declined.
// On 07 it resolves references to earlier ones (§18.3), for which it remembers
// those that are live: the session bounds how many that may be. Before 07 it
// remembers and checks nothing. Not safe for concurrent use.
//
// An error is a violation that ends the session.
type AnnounceExpander struct {
	v    Version
	next uint64 // announce id of the next START
	live map[uint64]AnnounceStart
}

// NewAnnounceExpander returns the expander of a stream on which no announcement
// has arrived yet.
func NewAnnounceExpander(v Version) *AnnounceExpander {
	return &AnnounceExpander{v: v, live: make(map[uint64]AnnounceStart)}
}

// Start decodes the body of an ANNOUNCE_START.
func (x *AnnounceExpander) Start(body []byte) (AnnounceStart, error) {
	if !x.v.HasCompression() {
		return DecodeAnnounceStart(body, x.v)
	}
	m, err := x.start(body)
	if err != nil {
		return AnnounceStart{}, err
	}
	x.remember(x.next, m)
	x.next++
	return m, nil
}

func (x *AnnounceExpander) start(body []byte) (m AnnounceStart, err error) {
	c, err := decodeCompressedStart(body, x.v)
	if err != nil {
		return m, err
	}
	if m.Suffix, err = x.path(c.path); err != nil {
		return m, fmt.Errorf("expand ANNOUNCE_START: path: %w", err)
	}
	if m.Hops, err = x.hops(c.hops); err != nil {
		return m, fmt.Errorf("expand ANNOUNCE_START: hops: %w", err)
	}
	m.Cost = c.cost
	return m, nil
}

// Update decodes the body of an ANNOUNCE_UPDATE.
func (x *AnnounceExpander) Update(body []byte) (m AnnounceUpdate, err error) {
	if !x.v.HasCompression() {
		return DecodeAnnounceUpdate(body, x.v)
	}
	c, err := decodeCompressedUpdate(body, x.v)
	if err != nil {
		return m, err
	}
	old, ok := x.live[c.id]
	if !ok {
		return m, fmt.Errorf("expand ANNOUNCE_UPDATE: announce id %d is not live: %w", c.id, wire.ErrValue)
	}
	if old.Hops, err = x.hops(c.hops); err != nil {
		return m, fmt.Errorf("expand ANNOUNCE_UPDATE: hops: %w", err)
	}
	x.remember(c.id, old)
	return AnnounceUpdate{ID: c.id, Hops: old.Hops, Cost: c.cost}, nil
}

// End decodes the body of an ANNOUNCE_END.
func (x *AnnounceExpander) End(body []byte) (AnnounceEnd, error) {
	m, err := DecodeAnnounceEnd(body, x.v)
	if err != nil || !x.v.HasCompression() {
		return m, err
	}
	if _, ok := x.live[m.ID]; !ok {
		return m, fmt.Errorf("expand ANNOUNCE_END: announce id %d is not live: %w", m.ID, wire.ErrValue)
	}
	delete(x.live, m.ID)
	return m, nil
}

// remember keeps m without its cost, in memory of its own.
func (x *AnnounceExpander) remember(id uint64, m AnnounceStart) {
	x.live[id] = AnnounceStart{Suffix: m.Suffix, Hops: slices.Clone(m.Hops)}
}

func (x *AnnounceExpander) path(p compressedPath) (string, error) {
	base, err := x.base(p.base)
	if err != nil {
		return "", err
	}
	head, ok := leadingSegments(base.Suffix, p.keep)
	if !ok {
		return "", fmt.Errorf("keep %d segments of %q: %w", p.keep, base.Suffix, wire.ErrValue)
	}
	path := wire.JoinPath(head, p.rest)
	if len(path) > MaxPath {
		return "", fmt.Errorf("%d bytes: %w", len(path), wire.ErrTooLarge)
	}
	return wire.CleanPath(path)
}

func (x *AnnounceExpander) hops(h compressedHops) ([]uint64, error) {
	base, err := x.base(h.base)
	if err != nil {
		return nil, err
	}
	if h.keep > uint64(len(base.Hops)) {
		return nil, fmt.Errorf("keep %d of %d hops: %w", h.keep, len(base.Hops), wire.ErrValue)
	}
	chain := append(h.literal, base.Hops[len(base.Hops)-int(h.keep):]...)
	if len(chain) > MaxHops {
		return nil, fmt.Errorf("%d hops: %w", len(chain), wire.ErrTooMany)
	}
	return chain, checkHops(chain)
}

// base returns the announcement that many back from the next id; an empty one for 0.
func (x *AnnounceExpander) base(distance uint64) (AnnounceStart, error) {
	if distance == 0 {
		return AnnounceStart{}, nil
	}
	base, ok := x.live[x.next-distance] // wraps to an id no stream reaches
	if !ok {
		return base, fmt.Errorf("base %d back is not live: %w", distance, wire.ErrValue)
	}
	return base, nil
}

// leadingSegments returns the first n segments of a clean path, if it has as many.
func leadingSegments(path string, n uint64) (head string, ok bool) {
	if n == 0 {
		return "", true
	}
	end := 0
	for range n {
		if end >= len(path) {
			return "", false
		}
		if i := strings.IndexByte(path[end:], '/'); i >= 0 {
			end += i + 1
		} else {
			end = len(path) + 1
		}
	}
	return path[:end-1], true
}
