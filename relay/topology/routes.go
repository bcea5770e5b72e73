package topology

import (
	"github.com/moqmesh/moqmesh/cluster"
	"github.com/moqmesh/moqmesh/cluster/route"
	"github.com/moqmesh/moqmesh/moq"
)

// maxCandidates bounds how many routes of one broadcast are shown.
const maxCandidates = 256

// Relay is where a description is taken from.
type Relay struct {
	Node   string // its own URL; "" = not said
	Origin *moq.Origin
	Links  []cluster.LinkStatus
	Nodes  []cluster.NodeStatus
}

// Routes is the way of each broadcast to one relay, as JSON: what /routes answers.
type Routes struct {
	Node     string `json:"node,omitempty"` // URL of the relay that was asked
	OriginID string `json:"origin_id"`      // its hop id, decimal
	Links    []Link `json:"links"`

	Prefix string `json:"prefix"`
	Total  int    `json:"total"` // broadcasts at and below the prefix
	// Truncated says that Routes holds fewer than Total.
	Truncated bool    `json:"truncated"`
	Routes    []Route `json:"routes"` // by name

	Why *Why `json:"why,omitempty"` // of the broadcast that was asked for
}

// Route is the way of one broadcast.
type Route struct {
	Name       string     `json:"name"`
	Candidates int        `json:"candidates"` // routes known, those that cannot be used included
	Serving    *Candidate `json:"serving"`    // nil: it has just gone
}

// Why is every route of one broadcast.
type Why struct {
	Name string `json:"name"`
	// Candidates are the serving route, then those that could serve in the order of
	// preference, then the others. Empty: the name is not known.
	Candidates []Candidate `json:"candidates"`
	Truncated  bool        `json:"truncated"` // there are more
}

// The sources of a route.
const (
	FromHere   = "local"   // published by the relay itself
	FromClient = "client"  // by a session that is no relay's
	FromPeer   = "cluster" // forwarded by another relay
)

// Candidate is one route, leg by leg: received costs up to the neighbour, the price
// of the link to it, and their sums.
type Candidate struct {
	Source string `json:"source"` // local, client or cluster
	// Peer is the neighbour: its URL, "" where none is known. HopID is its id, ""
	// where it withholds it.
	Peer  string `json:"peer,omitempty"`
	HopID string `json:"hop_id,omitempty"`
	Hops  []Hop  `json:"hops"` // relays passed, the oldest first, the neighbour last

	ReceivedWarm uint64 `json:"received_warm"` // price of one more subscription
	ReceivedCold uint64 `json:"received_cold"` // price with nothing cached anywhere
	Price        uint64 `json:"price"`
	PriceFrom    string `json:"price_from,omitempty"` // own, declared or default; "" where nothing is pulled over a link
	Warm         uint64 `json:"warm"`
	Cold         uint64 `json:"cold"`

	State string `json:"state"` // see StateTexts
	// Rule decided between this route and the serving one; for that, between it and
	// the next best. See RuleTexts.
	Rule string `json:"rule"`
}

// Hop is one relay on a route.
type Hop struct {
	ID   string `json:"id"`             // decimal; 0 = it withholds it
	Node string `json:"node,omitempty"` // its URL, where it is known
}

// Describe answers q. It holds up the relay's other work for one broadcast at a
// time, and once for the list of names.
func Describe(r Relay, q Query) Routes {
	d := Routes{Node: r.Node, OriginID: hopID(r.Origin.ID()), Links: linksOf(r.Links), Prefix: q.Prefix, Routes: []Route{}}
	named := hopNames(r)
	names := r.Origin.Paths(q.Prefix, moq.Reader{Hidden: true})
	d.Total, d.Truncated = len(names), len(names) > q.Limit
	for _, name := range names[:min(len(names), q.Limit)] {
		all := r.Origin.Explain(name)
		way := Route{Name: name, Candidates: len(all)}
		if len(all) > 0 && all[0].State == route.Serving {
			c := named.candidate(all[0])
			way.Serving = &c
		}
		d.Routes = append(d.Routes, way)
	}
	if q.Why != "" {
		d.Why = named.why(q.Why, r.Origin.Explain(q.Why))
	}
	return d
}

// names are the URLs of relays by hop id.
type names map[uint64]string

// hopNames gives a URL to each hop id that is one relay's.
func hopNames(r Relay) names {
	list := names{}
	for _, n := range r.Nodes {
		if _, twice := list[n.HopID]; twice {
			list[n.HopID] = "" // cannot be told apart
			continue
		}
		list[n.HopID] = n.Node
	}
	for _, l := range r.Links {
		if _, known := list[l.HopID]; !known {
			list[l.HopID] = l.Peer
		}
	}
	list[r.Origin.ID()] = r.Node
	list[0] = ""
	return list
}

func (n names) why(name string, all []route.Candidate) *Why {
	w := &Why{Name: name, Candidates: []Candidate{}, Truncated: len(all) > maxCandidates}
	for _, c := range all[:min(len(all), maxCandidates)] {
		w.Candidates = append(w.Candidates, n.candidate(c))
	}
	return w
}

func (n names) candidate(c route.Candidate) Candidate {
	d := Candidate{
		Source: sourceOf(c), Hops: make([]Hop, len(c.Hops)),
		ReceivedWarm: c.ReceivedWarm, ReceivedCold: c.ReceivedCold, Price: c.Price, PriceFrom: c.PriceFrom,
		Warm: c.Warm, Cold: c.Cold, State: c.State.String(), Rule: c.Rule.String(),
	}
	if d.Source != FromHere {
		d.Peer, d.HopID = n[c.Link.ID], hopID(c.Link.ID)
	}
	for i, id := range decimals(c.Hops) {
		d.Hops[i] = Hop{ID: id, Node: n[c.Hops[i]]}
	}
	return d
}

func sourceOf(c route.Candidate) string {
	switch {
	case c.Peer.IsLocal():
		return FromHere
	case c.Link.Trusted:
		return FromPeer
	}
	return FromClient
}
