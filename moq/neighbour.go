package moq

import (
	"time"

	"github.com/moqmesh/moqmesh/cluster/route"
)

// Neighbour is one connection's place in an origin: what its peer announces, at
// the price of its link. Methods are safe for concurrent use.
type Neighbour struct {
	o     *Origin
	id    route.Peer
	paths map[string]struct{} // with a supply of it; guarded by o.mu
}

// Join makes place for a connection.
func (o *Origin) Join(now time.Time, l route.Link) *Neighbour {
	n := o.join(func(n uint64) route.Peer { return route.Peer(n) })
	n.SetLink(now, l)
	return n
}

func (o *Origin) join(peer func(n uint64) route.Peer) *Neighbour {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.joined++
	return &Neighbour{o, peer(o.joined), make(map[string]struct{})}
}

// SetLink changes what is known of the connection, and with it the price of every
// route over it.
func (n *Neighbour) SetLink(now time.Time, l route.Link) {
	n.o.update(now, func(now time.Time) []route.Change { return n.o.table.SetLink(now, n.id, l) })
}

// Announce says that the peer offers a broadcast, or changes its route in place:
// subscriptions then stay. path is clean (see wire.CleanPath). A route that must not
// be used (a loop, too long) counts as none until it is changed.
func (n *Neighbour) Announce(now time.Time, path string, s Source, r route.Route) {
	n.learn(now, path, supply{source: s}, r)
}

func (n *Neighbour) learn(now time.Time, path string, s supply, r route.Route) {
	s.peer = n.id
	n.o.update(now, func(now time.Time) []route.Change {
		known := n.o.names[path]
		if known == nil {
			known = new(name)
			n.o.names[path] = known
		}
		known.drop(n.id)
		known.supplies = append(known.supplies, s)
		n.paths[path] = struct{}{}
		changes, _ := n.o.table.Learn(now, n.id, path, r) // a refused list is no route until it is changed
		return changes
	})
}

// Withdraw says that the peer offers it no more. What runs goes on for as long as
// the peer serves it.
func (n *Neighbour) Withdraw(now time.Time, path string) {
	n.o.update(now, func(now time.Time) []route.Change {
		n.dropLocked(path)
		return n.o.table.Withdraw(now, n.id, path)
	})
}

// Leave says that the connection is over, and everything it offered with it.
func (n *Neighbour) Leave(now time.Time) {
	n.o.update(now, func(now time.Time) []route.Change {
		for path := range n.paths {
			n.dropLocked(path)
		}
		return n.o.table.Lose(now, n.id)
	})
}

// dropLocked forgets the supply of a path.
func (n *Neighbour) dropLocked(path string) {
	delete(n.paths, path)
	known := n.o.names[path]
	if known == nil {
		return
	}
	known.drop(n.id)
	if len(known.supplies) == 0 && known.b == nil {
		delete(n.o.names, path)
	}
}
