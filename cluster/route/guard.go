package route

import (
	"slices"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// guarded says whether a carrying relay must not leave a working source for r.
//
// A relay that carries a name offers it below what it costs: the pull is paid for.
// Two that carry may each find the other's offer cheaper than their own source;
// both follow, and the name goes in a circle. So a discount is followed only down
// a slope on which no circle closes: to a relay whose own way, without discounts,
// is cheaper than our best other; or where that is the same, whose relays all rank
// below us by hash.
func (t *Table) guarded(e *entry, r *received) bool {
	switch {
	case r.relays() < 1: // the publisher itself
		return false
	case r.link.WireCost == CostOne:
		return r.warm == 0 && !t.above(e.name, r)
	case r.link.WireCost == CostNone, r.warm >= r.cold:
		return false
	}
	switch own := e.alternative(r); {
	case r.cold < own:
		return false
	case r.cold == own:
		return !t.above(e.name, r)
	}
	return true
}

// alternative is the lowest cold cost among the usable routes that do not run
// through the neighbour that announces r; MaxCost where there is none.
func (e *entry) alternative(r *received) uint64 {
	lowest := uint64(MaxCost)
	for i := range e.routes {
		other := &e.routes[i]
		if other == r || other.through(r.link.ID) || !e.usable(other) {
			continue
		}
		_, cold := other.cost()
		lowest = min(lowest, cold)
	}
	return lowest
}

// above says that every relay of a chain, its publisher left out, ranks below us
// for this name. One that is unknown does not.
func (t *Table) above(name string, r *received) bool {
	own := wire.RouteHash(name, []uint64{t.cfg.Self})
	return !slices.ContainsFunc(r.chain.hops[r.head():], func(hop uint64) bool {
		return hop == 0 || wire.RouteHash(name, []uint64{hop}) >= own
	})
}
