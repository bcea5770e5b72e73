package route

import "time"

// held is how long a change for the worse, or of the way, is kept from readers: it
// is often followed by another.
const held = 300 * time.Millisecond

// sight is the serving route as readers see it. It may be of a route that is no
// longer there.
type sight struct {
	peer       Peer
	via        uint64 // the neighbour's id
	chain      *chain // nil: there is no route
	warm, cold uint64
	gone       bool // it lingers
}

// through says whether what is shown runs through a relay.
func (s *sight) through(id uint64) bool { return through(s.via, s.chain.hops, id) }

// equal says whether a reader sees no difference.
func (s sight) equal(o sight) bool {
	return s.warm == o.warm && s.cold == o.cold && same(s.chain, o.chain)
}

// choice is what the outside sees of it.
func (s *sight) choice(why Reason) Choice {
	return Choice{Peer: s.peer, Hops: s.chain.hops, Warm: s.warm, Cold: s.cold, Lingering: s.gone, Reason: why}
}

// present is the serving route as it is now.
func (e *entry) present() sight {
	r := e.current()
	if r == nil {
		return sight{}
	}
	warm, cold := r.cost()
	if e.carry.on() && !e.unrest.tooMuch() {
		warm = 0
	}
	return sight{r.link.peer, r.link.ID, r.chain, warm, cold, r.link.gone}
}

// show brings what readers see up to date. New names, ends and falls of the price
// are seen at once, the rest when it has lasted.
func (e *entry) show(now instant) {
	actual := e.present()
	seen := actual
	if e.shown.chain != nil && actual.chain != nil && !e.hold.past(now) {
		seen = e.shown
		if same(seen.chain, actual.chain) {
			seen = actual
			seen.warm, seen.cold = min(actual.warm, e.shown.warm), min(actual.cold, e.shown.cold)
		}
	}
	if seen.chain != nil && e.shown.chain != nil && !same(seen.chain, e.shown.chain) {
		e.unrest.change(now)
		actual = e.present() // the discount may have gone
	}
	e.shown = seen
	switch {
	case seen.equal(actual):
		e.hold = 0
	case e.hold == 0:
		e.hold = now.add(held)
	}
}
