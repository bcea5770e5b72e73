package route

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// plain decides as the Rust relay 0.17 does, of which a mesh may be full: both costs
// add up, nothing is cheaper because it is carried, the best route serves at once,
// and each reader from the best that is open to it. Changes are held back 300ms.
type plain struct {
	self     uint64
	links    map[Peer]Link
	names    map[string]*plainName
	arrivals int
}

type plainName struct {
	routes map[Peer]plainRoute
	hidden map[uint64]bool // relays that withdrew it
	shown  map[Peer]plainRoute
	hold   time.Time
	ghost  *plainRoute
	until  time.Time // the ghost's
}

type plainRoute struct {
	peer       Peer
	via        uint64
	hops       []uint64
	warm, cold uint64
	hash       uint64
	arrival    int
}

func newPlain(self uint64) *plain {
	return &plain{self: self, links: make(map[Peer]Link), names: make(map[string]*plainName)}
}

func (p *plain) name(name string) *plainName {
	if p.names[name] == nil {
		p.names[name] = &plainName{routes: make(map[Peer]plainRoute), hidden: make(map[uint64]bool)}
	}
	return p.names[name]
}

func (p *plain) SetLink(_ time.Time, peer Peer, l Link) []Change {
	p.links[peer] = l // prices of what is there stay: 0.17 re-prices when it is announced anew
	return nil
}

func (p *plain) Learn(now time.Time, peer Peer, name string, r Route) ([]Change, error) {
	n, l := p.name(name), p.links[peer]
	delete(n.hidden, l.ID)
	hops := slices.Clone(r.Hops)
	if slices.Contains(hops, p.self) || len(hops) > 32 {
		delete(n.routes, peer)
		return p.changed(now, name), nil
	}
	p.arrivals++
	got := plainRoute{peer: peer, via: l.ID, hops: hops, warm: r.Warm + l.price(), cold: r.Cold + l.price(), arrival: p.arrivals}
	if l.Trusted {
		got.hash = wire.RouteHash(name, hops)
	}
	n.routes[peer] = got
	return p.changed(now, name), nil
}

func (p *plain) Withdraw(now time.Time, peer Peer, name string) []Change {
	n := p.name(name)
	delete(n.routes, peer)
	if p.links[peer].Trusted {
		n.hidden[p.links[peer].ID] = true
	}
	return p.changed(now, name)
}

func (p *plain) Lose(now time.Time, peer Peer) (changes []Change) {
	delete(p.links, peer)
	for _, name := range slices.Sorted(maps.Keys(p.names)) {
		if n := p.name(name); n.routes[peer].hops != nil {
			delete(n.routes, peer)
			changes = append(changes, p.changed(now, name)...)
		}
	}
	return changes
}

func (p *plain) Carry(time.Time, string, bool) []Change      { return nil }
func (p *plain) Feed(time.Time, string, Peer, bool) []Change { return nil }

// changed begins or ends the hold of a name.
func (p *plain) changed(now time.Time, name string) []Change {
	n := p.name(name)
	switch best := n.sorted(); {
	case len(best) == 0:
		if s := bestOf(n.shown); s != nil {
			n.ghost, n.until = s, now.Add(2*time.Second)
		}
		n.show()
	case len(n.shown) == 0:
		n.show()
	case n.hold.IsZero():
		n.hold = now.Add(300 * time.Millisecond)
	}
	return []Change{{Name: name}}
}

func bestOf(routes map[Peer]plainRoute) *plainRoute {
	list := order(routes)
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

func (n *plainName) show() {
	n.hold = time.Time{}
	n.shown = make(map[Peer]plainRoute)
	for _, r := range n.sorted() {
		n.shown[r.peer] = r
	}
}

func (p *plain) Advance(now time.Time) (changes []Change) {
	for _, name := range slices.Sorted(maps.Keys(p.names)) {
		n := p.name(name)
		if !n.until.IsZero() && !n.until.After(now) {
			n.ghost, n.until = nil, time.Time{}
			changes = append(changes, p.changed(now, name)...)
		}
		if !n.hold.IsZero() && !n.hold.After(now) {
			n.show()
			changes = []Change{{Name: name}}
		}
	}
	return changes
}

func (p *plain) Next() (at time.Time) {
	for _, name := range slices.Sorted(maps.Keys(p.names)) {
		for _, due := range []time.Time{p.name(name).hold, p.name(name).until} {
			if !due.IsZero() && (at.IsZero() || due.Before(at)) {
				at = due
			}
		}
	}
	return at
}

// sorted are the routes that may serve, the best first.
func (n *plainName) sorted() []plainRoute {
	return slices.DeleteFunc(order(n.routes), func(r plainRoute) bool {
		for id := range n.hidden {
			if id != 0 && slices.Contains(r.hops, id) {
				return true
			}
		}
		g := n.ghost
		return g != nil && r.hops[0] == g.hops[0] && cmp.Or(cmp.Compare(r.cold, g.cold), cmp.Compare(len(r.hops), len(g.hops))) > 0
	})
}

func order(routes map[Peer]plainRoute) []plainRoute {
	var list []plainRoute
	for _, r := range routes {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b plainRoute) int {
		return cmp.Or(cmp.Compare(a.warm, b.warm), cmp.Compare(a.cold, b.cold), cmp.Compare(len(a.hops), len(b.hops)),
			cmp.Compare(a.hash, b.hash), cmp.Compare(b.arrival, a.arrival))
	})
	return list
}

func pick(list []plainRoute, id uint64) (Choice, bool) {
	for _, r := range list {
		if id == 0 || r.via != id && !slices.Contains(r.hops, id) {
			return Choice{Peer: r.peer, Hops: r.hops, Warm: r.warm, Cold: r.cold}, true
		}
	}
	return Choice{}, false
}

func (p *plain) Serving(name string) (Choice, bool) { return p.Source(name, Reader{}) }
func (p *plain) Source(name string, r Reader) (Choice, bool) {
	return pick(p.name(name).sorted(), r.ID)
}
func (p *plain) Offer(name string, r Reader) (Choice, bool) {
	return pick(order(p.name(name).shown), r.ID)
}
func (p *plain) Usable(name string, r Reader) bool {
	_, ok := p.Source(name, r)
	return ok
}
