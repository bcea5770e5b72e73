package cluster

import (
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// Inbound is a session that a peer dialled.
type Inbound struct {
	Conn   uint64 // its number in logs
	Remote string // the peer's address
	Proto  string // version of the protocol
	Setup  lite.Setup
	Since  time.Time
	// Stats is what the transport knows of the path; nil = nothing.
	Stats func() session.Stats
}

// Join notes a session that a peer dialled, until leave is called. An error says that the session must be refused:
// the peer has our own hop id.
func (c *Cluster) Join(in Inbound) (leave func(), err error) {
	if err := c.meet(in.Remote, in.Setup.Hop); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inbound[&in] = struct{}{}
	c.linkedLocked()
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.inbound, &in)
		c.unlinkedLocked()
	}), nil
}

func (c *Cluster) inboundLocked(in *Inbound) LinkStatus {
	s := LinkStatus{
		Peer: in.Remote, Inbound: true, State: Connected, Since: in.Since,
		Price: 1, HopID: in.Setup.Hop, Conn: in.Conn, Proto: in.Proto,
	}
	if k, ok := c.adverts.Named(in.Setup.Hop); ok {
		s.Peer = string(k)
	}
	if in.Setup.Cost.OK {
		s.Price, s.PriceFrom = in.Setup.Cost.V, DeclaredPrice
	}
	if in.Stats != nil {
		s.Stats = in.Stats()
	}
	return s
}

const strangerCure = "make it a peer: a certificate of listen.tls.root, the token of cluster.token, a token with the claim cluster, or cluster.internal_peers"

// Restrict keeps a session that is no peer off the names by which relays find each other, and returns other access
// unchanged. One that declares a hop id and announces such a name is most likely a relay that nobody made a peer:
// that is logged, once for the session conn.
func (c *Cluster) Restrict(access session.Access, conn, hop uint64) session.Access {
	if access.Peer {
		return access
	}
	tell := sync.OnceFunc(func() {
		c.cfg.Counters.AdvertsForged.Add(1)
		if hop != 0 {
			c.cfg.Log.Warn("cluster advertisement from a session that is no peer; ignoring", "conn", conn, "hop_id", hop, "cure", strangerCure)
		}
	})
	publish, subscribe := access.Publish, access.Subscribe
	reserved := func(path string) bool { return wire.HasPathPrefix(wire.JoinPath(access.Root, path), peers.Reserved) }
	access.Publish = func(path string) bool {
		if reserved(path) {
			tell()
			return false
		}
		return publish == nil || publish(path)
	}
	access.Subscribe = func(path string) bool { return !reserved(path) && (subscribe == nil || subscribe(path)) }
	return access
}
