package route

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// MaxCost is where costs saturate, and what the routes of a leaving peer cost.
const MaxCost = wire.MaxVarint

// Peer names one source of routes in this process: a connection, or a
// publication of the process itself. It is never on a wire and never used twice.
type Peer uint64

// Local is what this process publishes itself.
const Local Peer = 0

const firstOwn Peer = 1 << 63

// Own is a further publication of this process, so that one name can have
// several. n is of the caller's choice, below 2^63.
func Own(n uint64) Peer { return firstOwn | Peer(n) }

// IsLocal says that the source is in this process: Local, or one of Own. Such
// peers have no link; their routes are learnt with the seed as cost, and no hops.
func (p Peer) IsLocal() bool { return p == Local || p >= firstOwn }

// Price is what pulling over a link costs, unitless. The zero value is no price.
type Price struct {
	Cost uint64 // above MaxCost counts as MaxCost
	Set  bool
}

// PriceOf is the price that costs c.
func PriceOf(c uint64) Price { return Price{c, true} }

// CostKind is what announcements of a wire say about costs.
type CostKind uint8

const (
	// CostTwo carries warm and cold: moq-lite-06 and later.
	CostTwo CostKind = iota
	// CostOne carries one number, taken for both: moq-lite-06-wip, and moqt with
	// the cluster extension. What is received as Warm counts.
	CostOne
	// CostNone carries none: the hop count stands for both.
	CostNone
)

// Link is what is known of a connection. It may be told anew at any time.
type Link struct {
	// ID is the neighbour's hop id, declared or assigned to the connection.
	// 0 = none: no route is known to run through it.
	ID uint64
	// Own is our price for the link, Declared what the peer said that pulling
	// from it costs. Own wins; without either it costs 1.
	Own, Declared Price
	// Trusted says that it is a cluster peer. Else it is our client, and what it
	// announces counts as published here.
	Trusted bool
	// Leaving says that it sent GOAWAY. Its routes cost MaxCost and serve only
	// where there is no other.
	Leaving bool
	// WireCost is what its announcements say about costs.
	WireCost CostKind
	// Stamp stands for the unknown publisher of a chain that begins with 0 or is
	// empty. Unique for each connection, not 0, and not changed: it is the first
	// hop that others see.
	Stamp uint64
}

// price is what the link adds to each route.
func (l Link) price() uint64 {
	switch {
	case l.Own.Set:
		return min(l.Own.Cost, MaxCost)
	case l.Declared.Set:
		return min(l.Declared.Cost, MaxCost)
	}
	return 1
}

// priceFrom says whose price it is.
func (l Link) priceFrom() string {
	switch {
	case l.Own.Set:
		return "own"
	case l.Declared.Set:
		return "declared"
	}
	return "default"
}

// link is a Link and the routes that came over it.
type link struct {
	Link
	peer    Peer
	entries []*entry // the names it has a route to
	feeds   []*entry // the names it pulls from us
	gone    bool     // the connection is lost; its routes linger
	until   instant  // how long, where gone
}

// price is what the link adds to each route.
func (l *link) price() uint64 {
	if l.peer.IsLocal() {
		return 0
	}
	return l.Link.price()
}

// drop forgets the route at place i. The last one takes its place.
func (l *link) drop(i int32) {
	last := len(l.entries) - 1
	if int(i) != last {
		moved := l.entries[last]
		l.entries[i] = moved
		moved.from(l.peer).at = i
	}
	l.entries[last] = nil
	l.entries = l.entries[:last]
}

// String is for tests and logs.
func (p Peer) String() string {
	if p.IsLocal() {
		return fmt.Sprintf("local%d", p&^firstOwn)
	}
	return fmt.Sprint(uint64(p))
}
