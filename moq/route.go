package moq

import (
	"cmp"
	"slices"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// MaxCost is where route costs saturate.
const MaxCost = wire.MaxVarint

// MaxHops is the longest hop list on any wire.
const MaxHops = 32

// Route is one way to a broadcast.
type Route struct {
	// Hops are the relays passed, oldest first, up to and including the neighbour
	// that announced it. Empty for what this process publishes. 0 = unknown hop.
	Hops []uint64
	// Warm is the price of one more subscription as the mesh stands, Cold with
	// nothing cached anywhere. Both saturate at MaxCost.
	Warm, Cold uint64
	// Via is the neighbour's hop id, or the id assigned to its connection where
	// its wire carries none. 0 = published in this process.
	Via uint64
	// Peer says that a cluster peer forwarded it; else its publisher is our client.
	Peer bool
}

// Publisher identifies the origin of the content: equal and non-zero for two
// routes to the same publisher.
func (r Route) Publisher() uint64 {
	if len(r.Hops) == 0 {
		return 0
	}
	return r.Hops[0]
}

// through says whether the route passes a relay.
func (r Route) through(id uint64) bool {
	return id != 0 && (r.Via == id || slices.Contains(r.Hops, id))
}

// equal says whether two routes look the same to a reader.
func (r Route) equal(o Route) bool {
	return r.Warm == o.Warm && r.Cold == o.Cold && slices.Equal(r.Hops, o.Hops)
}

// compareRoutes is the selection order (moq-lite.md §15.2): the lesser route is
// chosen. Order: identified chain, warm cost, cold cost, published here, fewer
// hops, hash among those that peers forwarded, newest.
func compareRoutes(path string, a, b *entry) int {
	return cmp.Or(
		compareBool(slices.Contains(a.route.Hops, 0), slices.Contains(b.route.Hops, 0)),
		cmp.Compare(a.route.Warm, b.route.Warm),
		cmp.Compare(a.route.Cold, b.route.Cold),
		compareBool(a.route.Via != 0, b.route.Via != 0),
		cmp.Compare(len(a.route.Hops), len(b.route.Hops)),
		cmp.Compare(routeHash(path, a.route), routeHash(path, b.route)),
		cmp.Compare(b.arrival, a.arrival),
	)
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

func routeHash(path string, r Route) uint64 {
	if !r.Peer {
		return 0
	}
	return wire.RouteHash(path, r.Hops)
}
