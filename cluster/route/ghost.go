package route

import (
	"slices"
	"time"
)

// echo is how long a name that was withdrawn may come back out of the mesh's own
// memory: time for the withdrawal to reach everybody.
const echo = 2 * time.Second

// ghost remembers the route whose end withdrew the name. Until then a worse one to
// the same publisher is taken for an echo of it.
type ghost struct {
	publisher uint64
	cold      uint64
	hops      int
	until     instant // 0 = nothing remembered
}

// haunt remembers a source. cold and not warm is compared: a discount on the route
// that ended would make each honest successor look worse.
func haunt(now instant, s source) ghost {
	if s.chain.publisher() == 0 {
		return ghost{}
	}
	return ghost{publisher: s.chain.publisher(), cold: s.cold, hops: len(s.chain.hops), until: now.add(echo)}
}

// matches says that r is such an echo. What is not from a cluster peer is never
// one: it comes from the publisher.
func (g *ghost) matches(r *received) bool {
	if g.until == 0 || !r.link.Trusted || r.chain.publisher() != g.publisher {
		return false
	}
	_, cold := r.cost()
	return cold > g.cold || cold == g.cold && len(r.chain.hops) > g.hops
}

func (g *ghost) expire(now instant) bool {
	if !g.until.past(now) {
		return false
	}
	*g = ghost{}
	return true
}

// maxDenials bounds how many withdrawals of one name are remembered at a time. The
// oldest gives way: its echoes may then be followed for as long as they sound.
const maxDenials = 64

// denial is a relay that has withdrawn the name: what others still announce through
// it is about to end, too.
type denial struct {
	relay uint64
	until instant
}

// deny hides what runs through a relay.
func (e *entry) deny(relay uint64, now instant) {
	e.acquit(relay)
	if len(e.denials) == maxDenials {
		e.denials = slices.Delete(e.denials, 0, 1)
	}
	e.denials = append(e.denials, denial{relay, now.add(echo)})
}

// acquit takes a denial back: the relay announces the name again.
func (e *entry) acquit(relay uint64) {
	e.denials = slices.DeleteFunc(e.denials, func(d denial) bool { return d.relay == relay })
}

// announcedBy says whether a relay announces the name over any connection.
func (e *entry) announcedBy(relay uint64) bool {
	return slices.ContainsFunc(e.routes, func(r received) bool { return r.link.ID == relay && !r.link.gone })
}

// denied says whether r runs through a relay that has withdrawn the name.
func (e *entry) denied(r *received) bool {
	return slices.ContainsFunc(e.denials, func(d denial) bool { return r.through(d.relay) })
}

// forgive drops the denials whose time is over.
func (e *entry) forgive(now instant) bool {
	before := len(e.denials)
	e.denials = slices.DeleteFunc(e.denials, func(d denial) bool { return d.until.past(now) })
	return len(e.denials) != before
}
