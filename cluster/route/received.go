package route

import "slices"

// received is a route as it is kept.
type received struct {
	link       *link
	chain      *chain
	warm, cold uint64 // as received
	arrival    uint64 // starts, counted over the table: the greater is the newer
	at         int32  // its place in link.entries
	refused    State  // Looped or TooLong; else Standby
}

// offered is the price up to the neighbour, as far as its wire tells.
func (r *received) offered() (warm, cold uint64) {
	switch r.link.WireCost {
	case CostOne:
		return r.warm, r.warm
	case CostNone:
		n := uint64(max(r.relays(), 0))
		return n, n
	}
	return r.warm, r.cold
}

// cost is the price with the last leg.
func (r *received) cost() (warm, cold uint64) {
	if r.link.Leaving {
		return MaxCost, MaxCost
	}
	warm, cold = r.offered()
	price := r.link.price()
	return add(warm, price), add(cold, price)
}

// add saturates. Both are at most MaxCost, so that the sum does not wrap.
func add(a, b uint64) uint64 { return min(a+b, MaxCost) }

// relays is how many are between the publisher and us; -1 for what is published in
// this process.
func (r *received) relays() int { return len(r.chain.hops) - r.head() }

// head is how many hops stand for the publisher: its id, or stamp and unknown.
func (r *received) head() int {
	if hops := r.chain.hops; len(hops) > 1 && hops[1] == 0 {
		return 2
	}
	return 1
}

// through says whether the route runs through a relay, or comes from it.
func (r *received) through(id uint64) bool { return through(r.link.ID, r.chain.hops, id) }

func through(via uint64, hops []uint64, id uint64) bool {
	return id != 0 && (via == id || slices.Contains(hops, id))
}

// choice is what the outside sees of it.
func (r *received) choice(why Reason) Choice {
	warm, cold := r.cost()
	return Choice{Peer: r.link.peer, Hops: r.chain.hops, Warm: warm, Cold: cold, Lingering: r.link.gone, Reason: why}
}
