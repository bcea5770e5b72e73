package route

import (
	"cmp"
	"slices"
)

// State is what a route is to its name.
type State uint8

// States of a route.
const (
	Serving     State = iota // it is pulled from
	Standby                  // usable, and another one serves
	Quarantined              // a worse echo of a name that has just been withdrawn
	Hidden                   // runs through a peer that has just withdrawn the name
	Looped                   // its list holds our own id, or one id twice
	TooLong                  // its list is longer than Config.MaxHops
	Leaving                  // usable where there is no other: the peer sent GOAWAY
	Lingering                // the peer is gone and may come back
)

var states = [...]string{
	Serving: "serving", Standby: "standby", Quarantined: "quarantined", Hidden: "hidden",
	Looped: "looped", TooLong: "too long", Leaving: "leaving", Lingering: "lingering",
}

// String is the word that operators are shown.
func (s State) String() string { return states[s] }

// Candidate is one route of a name, explained.
type Candidate struct {
	Peer Peer
	Link Link // zero for Local
	Hops []uint64
	// ReceivedWarm and ReceivedCold are the price up to the neighbour, as its wire
	// says it; Price is that of the last leg, and PriceFrom whose: "own",
	// "declared", "default", or "" for what is published here.
	ReceivedWarm, ReceivedCold uint64
	Price                      uint64
	PriceFrom                  string
	// Warm and Cold are the sums that are compared.
	Warm, Cold uint64
	State      State
	// Rule decided between this route and the serving one; for the serving one,
	// between it and the next best.
	Rule Reason
	// Held says of the serving route that readers are shown another way or price yet.
	Held bool
}

// explain lists the serving route, then those that could serve, then the others.
func (t *Table) explain(e *entry) []Candidate {
	current := e.current()
	order := make([]*received, len(e.routes))
	for i := range e.routes {
		order[i] = &e.routes[i]
	}
	slices.SortFunc(order, func(a, b *received) int {
		preferred, _ := e.compare(a, b)
		return cmp.Or(
			compareBool(a != current, b != current),
			compareBool(!e.usable(a), !e.usable(b)),
			preferred,
		)
	})
	list := make([]Candidate, len(order))
	for i, r := range order {
		list[i] = r.candidate(e.stand(r, current), t.rule(e, r, current))
		list[i].Held = r == current && e.hold != 0
	}
	return list
}

// stand is what a route is to its name.
func (e *entry) stand(r, current *received) State {
	switch s := e.state(r); {
	case s != Standby:
		return s
	case r == current:
		return Serving
	case r.link.gone:
		return Lingering
	case r.link.Leaving:
		return Leaving
	}
	return Standby
}

// rule is what decided about a route.
func (t *Table) rule(e *entry, r, current *received) Reason {
	switch {
	case !e.usable(r):
		return Unusable
	case r == current:
		return e.why
	}
	return t.between(e, current, r)
}

// candidate is what the outside sees of it.
func (r *received) candidate(s State, why Reason) Candidate {
	c := Candidate{Peer: r.link.peer, Link: r.link.Link, Hops: r.chain.hops, State: s, Rule: why}
	c.ReceivedWarm, c.ReceivedCold = r.offered()
	c.Warm, c.Cold = r.cost()
	c.Price = r.link.price()
	if !c.Peer.IsLocal() {
		c.PriceFrom = r.link.priceFrom()
	}
	return c
}
