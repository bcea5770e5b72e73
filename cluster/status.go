package cluster

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/moq/session"
)

// State is how a link does.
type State uint8

// The states.
const (
	Connecting State = iota // being dialled
	Connected               // up
	Leaving                 // up, and the peer asked us to leave
	Waiting                 // down, until the next dial is due
	Rejected                // the same, and the peer turned us away for what we are
)

func (s State) String() string {
	return [...]string{"connecting", "connected", "leaving", "waiting", "rejected"}[s]
}

func (s State) up() bool { return s == Connected || s == Leaving }

// PriceSource is where the price of a link comes from.
type PriceSource uint8

// The sources of prices.
const (
	DefaultPrice  PriceSource = iota // nobody said anything
	DeclaredPrice                    // the peer did
	OwnPrice                         // its entry here has it
	MeasuredPrice                    // its entry here wants it measured
)

func (p PriceSource) String() string { return [...]string{"default", "declared", "own", "measured"}[p] }

// LinkStatus is one link at one moment. It holds no secret.
type LinkStatus struct {
	Peer      string        // its URL without query; of an inbound link the one it announces, else its address
	Inbound   bool          // the peer dialled
	Owners    []peers.Owner // who wants it, the one that decides first; none of an inbound link
	State     State
	Since     time.Time // when State began
	Attempts  uint64    // dials since it is wanted
	Err       string    // why the last attempt ended, "" if without an error
	Price     uint64    // of what we pull over it
	PriceFrom PriceSource
	HopID     uint64 // of the peer; 0 = unknown
	Conn      uint64 // number of the session in logs; 0 = none
	Proto     string // "" without a session
	Stats     session.Stats
}

// Links lists the links, those that we dial first, by peer.
func (c *Cluster) Links() []LinkStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []LinkStatus
	for _, k := range slices.Sorted(maps.Keys(c.links)) {
		s := c.links[k].snapshot()
		s.Owners = c.set.Owners(k)
		list = append(list, s)
	}
	begin := len(list)
	for in := range c.inbound {
		list = append(list, c.inboundLocked(in))
	}
	slices.SortFunc(list[begin:], func(a, b LinkStatus) int {
		return cmp.Or(cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.Conn, b.Conn))
	})
	return list
}

// NodeStatus is one relay that is dialled or announces itself.
type NodeStatus struct {
	Node      string // its URL without query
	HopID     uint64 // 0 = unknown
	Announced bool   // it announces itself now, over Route
	Route     peers.Route
	Links     []LinkStatus
}

// Nodes lists the relays that we know of, by URL, without ourselves. An inbound link stands with the relay whose
// announcement alone has its hop id; one that fits none is in Links only.
func (c *Cluster) Nodes() []NodeStatus {
	byNode := make(map[string]*NodeStatus)
	c.mu.Lock()
	for _, n := range c.adverts.Nodes() {
		if n.Key != c.own {
			byNode[string(n.Key)] = &NodeStatus{Node: string(n.Key), HopID: n.Route.Origin(), Announced: n.Live, Route: n.Route}
		}
	}
	c.mu.Unlock()
	for _, l := range c.Links() {
		n := byNode[l.Peer]
		if n == nil && l.Inbound {
			continue
		}
		if n == nil {
			n = &NodeStatus{Node: l.Peer}
			byNode[l.Peer] = n
		}
		n.HopID = cmp.Or(l.HopID, n.HopID)
		n.Links = append(n.Links, l)
	}
	nodes := make([]NodeStatus, 0, len(byNode))
	for _, node := range slices.Sorted(maps.Keys(byNode)) {
		nodes = append(nodes, *byNode[node])
	}
	return nodes
}

// snapshot is the link's status with the figures of now.
func (l *link) snapshot() LinkStatus {
	l.mu.Lock()
	s := l.status
	l.mu.Unlock()
	if live := l.session(); live != nil {
		s.Stats = live.Stats()
	}
	return s
}

// session is the one that serves now; nil = none.
func (l *link) session() Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.serving
}

// publish makes the link's state visible to others.
func (l *link) publish() {
	s := LinkStatus{Peer: string(l.key), State: l.state(), Attempts: l.attempts, Err: l.lastErr}
	var serving Session
	s.Price, s.PriceFrom = l.pricing()
	if l.live != nil {
		s.HopID, s.Conn, s.Proto, serving = l.live.id, l.live.session.Conn, l.live.session.Proto, l.live.session.Session
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Since = l.status.Since
	if s.State != l.status.State || s.Since.IsZero() {
		s.Since = time.Now()
	}
	l.status, l.serving = s, serving
}

func (l *link) state() State {
	switch {
	case l.live != nil && l.live.leaving:
		return Leaving
	case l.live != nil:
		return Connected
	case l.rejected:
		return Rejected // also while trying again: that is no news
	case l.next != nil || l.attempts == 0:
		return Connecting
	}
	return Waiting
}

// pricing is the price in force and where it comes from.
func (l *link) pricing() (uint64, PriceSource) {
	switch own := l.price(); {
	case own.OK && l.entry.Cost.Auto:
		return own.V, MeasuredPrice
	case own.OK:
		return own.V, OwnPrice
	case l.live != nil && l.live.setup.Cost.OK:
		return l.live.setup.Cost.V, DeclaredPrice
	}
	return 1, DefaultPrice
}
