package peers

import (
	"errors"
	"maps"
	"slices"
	"time"
)

// How long a withdrawn advert still counts: relays restart, and lose a link.
const (
	Sweep = 30 * time.Second // between two calls of Adverts.Sweep
	Stale = time.Minute      // after its withdrawal Sweep drops a relay
)

// MaxAdverts is how many adverts are followed; further ones are refused.
const MaxAdverts = 2048

// ErrFull refuses an advert beyond MaxAdverts.
var ErrFull = errors.New("too many cluster advertisements")

// Route is how an advert came to us.
type Route struct {
	Hops []uint64 // the relay that announces itself first
	Cost uint64
}

// Origin is the hop id of the relay that announces itself; 0 = unknown.
func (r Route) Origin() uint64 {
	if len(r.Hops) == 0 {
		return 0
	}
	return r.Hops[0]
}

// Node is a relay that announces itself, or did until a moment ago.
type Node struct {
	Key   Key
	Entry Entry // as the advert that counts has it
	Route Route
	Live  bool // false: withdrawn, and not stale yet
}

// Adverts follows what relays announce of themselves. A relay may be announced by several spellings of its URL: the
// newest that is live counts. One that withdraws everything is known until Sweep finds it stale. Make it with
// NewAdverts.
type Adverts struct {
	nodes  map[Key]*advertised
	byPath map[string]Key
}

type advertised struct {
	live []advert // the newest last
	gone advert   // the last of live, where that is empty
	at   time.Time
}

type advert struct {
	path  string
	entry Entry
	route Route
}

// NewAdverts returns an empty set.
func NewAdverts() *Adverts {
	return &Adverts{nodes: make(map[Key]*advertised), byPath: make(map[string]Key)}
}

func (n *advertised) counting() advert {
	if len(n.live) == 0 {
		return n.gone
	}
	return n.live[len(n.live)-1]
}

// Announce notes that path is announced over a route, or that its route is another now, and returns the settings of
// its relay that count. An error leaves everything as it was.
func (a *Adverts) Announce(path string, r Route) (Entry, error) {
	if k, ok := a.byPath[path]; ok {
		n := a.nodes[k]
		i := slices.IndexFunc(n.live, func(ad advert) bool { return ad.path == path })
		n.live[i].route = r
		return n.counting().entry, nil
	}
	e, err := ParseAdvert(path)
	switch {
	case err != nil:
		return Entry{}, err
	case len(a.byPath) >= MaxAdverts || a.nodes[e.Key] == nil && len(a.nodes) >= MaxAdverts:
		return Entry{}, ErrFull
	}
	a.byPath[path] = e.Key
	n := a.nodes[e.Key]
	if n == nil {
		n = new(advertised)
		a.nodes[e.Key] = n
	}
	n.live = append(n.live, advert{path, e, r})
	return e, nil
}

// Withdraw notes that path is not announced any more. ok says that its relay still is, with the settings in e.
func (a *Adverts) Withdraw(now time.Time, path string) (e Entry, ok bool) {
	k, known := a.byPath[path]
	if !known {
		return Entry{}, false
	}
	delete(a.byPath, path)
	n := a.nodes[k]
	i := slices.IndexFunc(n.live, func(ad advert) bool { return ad.path == path })
	n.gone, n.at = n.live[i], now
	n.live = slices.Delete(n.live, i, i+1)
	return n.counting().entry, len(n.live) > 0
}

// Sweep forgets the relays that have been withdrawn for Stale, and returns them in order.
func (a *Adverts) Sweep(now time.Time) (stale []Key) {
	for _, k := range slices.Sorted(maps.Keys(a.nodes)) {
		if n := a.nodes[k]; len(n.live) == 0 && now.Sub(n.at) >= Stale {
			delete(a.nodes, k)
			stale = append(stale, k)
		}
	}
	return stale
}

// Reprieve begins the time of every withdrawn relay anew: for a relay that was cut off from all others, and whose own
// loss the withdrawals were.
func (a *Adverts) Reprieve(now time.Time) {
	for _, n := range a.nodes {
		n.at = now
	}
}

// Nodes lists the known relays, by key.
func (a *Adverts) Nodes() []Node {
	nodes := make([]Node, 0, len(a.nodes))
	for _, k := range slices.Sorted(maps.Keys(a.nodes)) {
		ad := a.nodes[k].counting()
		nodes = append(nodes, Node{Key: k, Entry: ad.entry, Route: ad.route, Live: len(a.nodes[k].live) > 0})
	}
	return nodes
}

// Named is the one live relay that has the hop id; ok is false where there is none, or more than one.
func (a *Adverts) Named(id uint64) (k Key, ok bool) {
	for at, n := range a.nodes {
		if id == 0 || len(n.live) == 0 || n.counting().route.Origin() != id {
			continue
		}
		if ok {
			return "", false
		}
		k, ok = at, true
	}
	return k, ok
}

// Twin is another live relay with the hop id of k, the first by key: each hides the other's broadcasts.
func (a *Adverts) Twin(k Key) (twin Key, ok bool) {
	n := a.nodes[k]
	if n == nil || len(n.live) == 0 || n.counting().route.Origin() == 0 {
		return "", false
	}
	id := n.counting().route.Origin()
	for at, other := range a.nodes {
		if at != k && len(other.live) > 0 && other.counting().route.Origin() == id && (!ok || at < twin) {
			twin, ok = at, true
		}
	}
	return twin, ok
}
