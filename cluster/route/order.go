package route

import (
	"cmp"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// compare is the order of preference: negative where a is better than b, and by
// which rule. In turn: a peer that stays, an identified chain, the lower warm cost,
// the lower cold cost, published in this process, fewer hops, the lower hash among
// those that cluster peers forwarded, the newest. It is never 0 for two routes.
//
// All but the last are the same wherever they are asked, so that relays agree; the
// first aside, they are those of the Rust relay, so that a mixed mesh does.
func (e *entry) compare(a, b *received) (int, Reason) {
	if c := cmp.Compare(e.presence(a), e.presence(b)); c != 0 {
		return c, Present
	}
	if c := compareBool(a.chain.unknown, b.chain.unknown); c != 0 {
		return c, Identified
	}
	if c := compareCost(a, b); c != 0 {
		return c, Cheaper
	}
	if c := compareBool(!a.link.peer.IsLocal(), !b.link.peer.IsLocal()); c != 0 {
		return c, Here
	}
	if c := cmp.Compare(len(a.chain.hops), len(b.chain.hops)); c != 0 {
		return c, Shorter
	}
	if c := cmp.Compare(a.hash(e.name), b.hash(e.name)); c != 0 {
		return c, Tie
	}
	return cmp.Compare(b.arrival, a.arrival), Newest
}

func compareCost(a, b *received) int {
	aWarm, aCold := a.cost()
	bWarm, bCold := b.cost()
	return cmp.Or(cmp.Compare(aWarm, bWarm), cmp.Compare(aCold, bCold))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// hash breaks ties between forwarded routes. Those of clients have none: of two
// sessions of one publisher the newer is to win.
func (r *received) hash(name string) uint64 {
	if !r.link.Trusted {
		return 0
	}
	return wire.RouteHash(name, r.chain.hops)
}
