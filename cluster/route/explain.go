package route

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
}
