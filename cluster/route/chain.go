package route

import (
	"slices"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// wireHops is the longest list that is kept, even of those refused: what any wire
// carries, the neighbour and a stamp.
const wireHops = 34

// chain is a list of hops, shared by the routes that have the same. It is not changed.
type chain struct {
	hops    []uint64
	routes  int32 // that hold it
	unknown bool  // holds a hop 0
}

// publisher is the first hop; 0 = none, published in this process.
func (c *chain) publisher() uint64 {
	if len(c.hops) == 0 {
		return 0
	}
	return c.hops[0]
}

// same says whether two chains are the same list. They need not be shared: one may
// be of a route that is gone.
func same(a, b *chain) bool {
	return a == b || a != nil && b != nil && slices.Equal(a.hops, b.hops)
}

// chains are those in use, by hash. Two that collide are both kept; only the
// later one is not shared.
type chains map[uint64]*chain

// take returns the shared form of hops, which it does not keep.
func (cs chains) take(hops []uint64) *chain {
	h := wire.RouteHash("", hops)
	c := cs[h]
	if c == nil || !slices.Equal(c.hops, hops) {
		taken := c != nil
		c = &chain{hops: slices.Clone(hops), unknown: slices.Contains(hops, 0)}
		if !taken {
			cs[h] = c
		}
	}
	c.routes++
	return c
}

// release undoes one take.
func (cs chains) release(c *chain) {
	if c.routes--; c.routes > 0 {
		return
	}
	if h := wire.RouteHash("", c.hops); cs[h] == c {
		delete(cs, h)
	}
}

// stamp appends a received list to buf, its unknown publisher replaced.
func stamp(buf, hops []uint64, with uint64) []uint64 {
	if len(hops) == 0 {
		return append(buf, with, 0)
	}
	if hops[0] == 0 {
		buf = append(buf, with)
	}
	return append(buf, hops...)
}

// repeats says whether a hop other than 0 is there twice.
func repeats(hops []uint64) bool {
	for i, h := range hops {
		if h != 0 && slices.Contains(hops[:i], h) {
			return true
		}
	}
	return false
}
