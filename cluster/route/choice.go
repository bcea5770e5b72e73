package route

// Route is an announcement as a peer sent it.
type Route struct {
	// Hops are the relays passed, oldest first, with the neighbour's own id last
	// where its wire carries or implies one (0 where it withholds it). Empty for
	// what is published here. The table keeps no reference to it.
	Hops []uint64
	// Warm is the price of one more subscription, Cold with nothing cached
	// anywhere; both without our own link price. Above MaxCost counts as MaxCost.
	Warm, Cold uint64
}

// Reader is who is told of routes, or served.
type Reader struct {
	// ID is its hop id, or the id assigned to its connection: what runs through it
	// is not for it. 0 = it cannot be on any route.
	ID uint64
	// MaxHops bounds the lists it is told of, our own hop counted; 0 = Config.MaxHops,
	// which also bounds it.
	MaxHops int
}

// Choice is a route that was chosen.
type Choice struct {
	Peer Peer
	// Hops are those of the announcement, a missing publisher replaced by the
	// link's stamp, our own hop not appended. Shared: not to be changed.
	Hops []uint64
	// Warm and Cold include our link's price. In an offer of the serving route
	// warm is 0 while the name is carried.
	Warm, Cold uint64
	// Lingering says that the peer is gone and may come back: there is nothing to
	// pull from now.
	Lingering bool
	// Reason is the rule that decided.
	Reason Reason
}

// Publisher identifies the content: equal and not 0 for routes between which a
// subscription may move. 0 = published in this process.
func (c Choice) Publisher() uint64 {
	if len(c.Hops) == 0 {
		return 0
	}
	return c.Hops[0]
}

// Change is a name about which something may have changed.
type Change struct {
	Name string
	// Serving says that Serving answers with another peer or other hops than
	// before, or no longer or newly. Offers may have changed in any case.
	Serving bool
}
