package session

import (
	"cmp"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/cluster/route"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// link is the session's place in the origin: whom the peer's announcements come
// through, and what pulling from it costs.
type link struct {
	mu   sync.Mutex // guards what follows, and is held while the origin is told
	told route.Link
	n    *moq.Neighbour // nil until the session asks for announcements
}

// wireCost is what the session's announcements say about costs.
func (s *Session) wireCost() route.CostKind {
	switch {
	case s.v >= lite.V06:
		return route.CostTwo
	case s.v.HasCost():
		return route.CostOne
	}
	return route.CostNone
}

// join takes the session's place in the origin.
func (s *Session) join() *moq.Neighbour {
	k := &s.link
	k.mu.Lock()
	defer k.mu.Unlock()
	k.told.WireCost, k.told.Trusted, k.told.Stamp = s.wireCost(), s.access.Peer, RandomID()
	k.n = s.access.Origin.Join(time.Now(), k.told)
	return k.n
}

// change changes what is known of the link; routes over it follow.
func (k *link) change(f func(l *route.Link)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f(&k.told)
	if k.n != nil {
		k.n.SetLink(time.Now(), k.told)
	}
}

// SetLinkCost changes our own price of pulling from the peer while the session
// runs; absent: its declaration, else 1.
func (s *Session) SetLinkCost(cost lite.Optional) {
	s.link.change(func(l *route.Link) { l.Own = price(cost) })
}

func price(o lite.Optional) route.Price { return route.Price{Cost: o.V, Set: o.OK} }

// heard takes note of what the peer says of itself.
func (k *link) heard(setup lite.Setup) {
	k.change(func(l *route.Link) {
		l.ID, l.Declared = cmp.Or(setup.Hop, l.ID), price(setup.Cost)
	})
}
