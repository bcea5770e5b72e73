package route

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"time"
)

// Why a list of hops is refused. The peer has no route to the name then, until it
// sends another list.
var (
	ErrLoop    = errors.New("hop list holds this relay or one relay twice")
	ErrTooLong = errors.New("hop list is longer than allowed")
	// ErrNoLink is what is learnt from a peer that SetLink has not told of.
	ErrNoLink = errors.New("route from a peer without a link")
)

// maxHops is the longest list on any wire.
const maxHops = 32

// Config is not changed once handed over.
type Config struct {
	// Self is this relay's hop id; 0 = none, and its own routes are not recognised.
	Self uint64
	// MaxHops is the longest list that is used; one hop less is passed on. 1 to 32; 0 = 32.
	MaxHops int
	// Linger is how long the routes of a lost peer stay announced; 0 = not at all.
	Linger time.Duration
}

// Table holds the routes that one relay knows and picks one for each name and
// reader. It has no clock, lock or goroutine: its owner passes the time in, which
// does not go back, and calls one method at a time. It bounds no number of names:
// who learns bounds what a peer may announce.
//
// The changes that methods return are sorted by name, each name at most once.
type Table struct {
	cfg      Config
	epoch    epoch
	links    map[Peer]*link
	names    map[string]*entry
	chains   chains
	agenda   agenda
	arrivals uint64
	hops     []uint64 // room to put a list together
}

// New returns an empty table.
func New(cfg Config) *Table {
	if cfg.MaxHops == 0 {
		cfg.MaxHops = maxHops
	}
	return &Table{cfg: cfg, links: make(map[Peer]*link), names: make(map[string]*entry), chains: make(chains)}
}

// SetLink tells of a new connection, or of a change of it: its identity, price,
// GOAWAY. All its routes are priced anew.
func (t *Table) SetLink(now time.Time, p Peer, l Link) []Change {
	at := t.epoch.at(now)
	k := t.links[p]
	switch {
	case p.IsLocal():
		return nil
	case k == nil:
		t.links[p] = &link{Link: l, peer: p}
		return nil
	case k.Link == l || k.gone:
		return nil
	}
	k.Link = l
	return t.reviewAll(k.entries, at)
}

// reviewAll looks at names whose routes have changed, each once or more.
func (t *Table) reviewAll(names []*entry, at instant) []Change {
	changes := make([]Change, 0, len(names))
	for _, e := range names {
		changes = t.review(changes, e, at, true)
	}
	return sorted(changes)
}

// Learn takes an announcement or its update in place. The error says that the
// list is refused, which is as if the peer had no route; the changes count in
// any case.
func (t *Table) Learn(now time.Time, p Peer, name string, r Route) ([]Change, error) {
	at := t.epoch.at(now)
	k := t.linkOf(p)
	if k == nil || k.gone {
		return nil, ErrNoLink
	}
	refused, err := t.read(k, r.Hops)
	e := t.entry(name)
	changed := t.put(e, k, received{
		link: k, chain: t.chains.take(t.hops), warm: min(r.Warm, MaxCost), cold: min(r.Cold, MaxCost), refused: refused,
	})
	if k.ID != 0 {
		e.acquit(k.ID)
	}
	return t.review(nil, e, at, changed), err
}

// linkOf is the link of a peer; that of a local one comes into being when asked for.
func (t *Table) linkOf(p Peer) *link {
	k := t.links[p]
	if k == nil && p.IsLocal() {
		k = &link{peer: p}
		t.links[p] = k
	}
	return k
}

func (t *Table) entry(name string) *entry {
	e := t.names[name]
	if e == nil {
		e = &entry{name: name}
		t.names[name] = e
	}
	return e
}

// read puts the list into t.hops as it is kept, and judges it.
func (t *Table) read(k *link, hops []uint64) (State, error) {
	t.hops = t.hops[:0]
	if k.peer.IsLocal() {
		return Standby, nil
	}
	long := len(hops) > wireHops
	t.hops = stamp(t.hops, hops[:min(len(hops), wireHops)], k.Stamp)
	switch self := t.cfg.Self; {
	case self != 0 && slices.Contains(t.hops, self), repeats(t.hops):
		return Looped, ErrLoop
	case long || len(t.hops) > t.cfg.MaxHops:
		return TooLong, ErrTooLong
	}
	return Standby, nil
}

// put stores a route and says whether that changes anything.
func (t *Table) put(e *entry, k *link, r received) bool {
	old := e.from(k.peer)
	if old == nil {
		t.arrivals++
		r.arrival, r.at = t.arrivals, int32(len(k.entries))
		e.routes = append(e.routes, r)
		k.entries = append(k.entries, e)
		return true
	}
	r.arrival, r.at = old.arrival, old.at
	t.chains.release(old.chain)
	changed := *old != r
	*old = r
	return changed
}

// Withdraw ends an announcement because the peer said so, at once. Other routes
// that run through that peer, if it is of the cluster, are hidden for a moment. One
// that is not there is ignored.
func (t *Table) Withdraw(now time.Time, p Peer, name string) []Change {
	at := t.epoch.at(now)
	k, e := t.links[p], t.names[name]
	if k == nil || e == nil || k.gone || !t.remove(e, k) {
		return nil
	}
	if k.Trusted && k.ID != 0 && !e.announcedBy(k.ID) {
		e.deny(k.ID, at)
	}
	return t.review(nil, e, at, true)
}

// remove forgets the route of a link and says whether there was one.
func (t *Table) remove(e *entry, k *link) bool {
	r := e.from(k.peer)
	if r == nil {
		return false
	}
	t.chains.release(r.chain)
	k.drop(r.at)
	last := len(e.routes) - 1
	*r = e.routes[last]
	e.routes[last] = received{}
	e.routes = e.routes[:last]
	if len(k.entries) == 0 && (k.gone || k.peer.IsLocal()) {
		delete(t.links, k.peer)
	}
	return true
}

// Lose ends all routes of a connection that is gone; they linger where Config
// says so. The peer is not heard of again.
func (t *Table) Lose(now time.Time, p Peer) []Change {
	at := t.epoch.at(now)
	k := t.links[p]
	if k == nil || k.gone {
		return nil
	}
	k.gone = true
	touched := t.starve(k)
	if t.cfg.Linger > 0 && !p.IsLocal() {
		k.until = at.add(t.cfg.Linger)
		touched = append(touched, k.entries...)
	} else {
		touched = append(touched, t.strip(k)...)
	}
	if len(k.entries) == 0 {
		delete(t.links, p)
	}
	return t.reviewAll(touched, at)
}

// starve ends all that is fed to a link and returns the names.
func (t *Table) starve(k *link) (names []*entry) {
	for len(k.feeds) > 0 {
		e := k.feeds[len(k.feeds)-1]
		e.feed(k, false)
		names = append(names, e)
	}
	return names
}

// strip forgets all routes of a link and returns their names.
func (t *Table) strip(k *link) (names []*entry) {
	for len(k.entries) > 0 {
		e := k.entries[len(k.entries)-1]
		t.remove(e, k)
		names = append(names, e)
	}
	return names
}

// Carry says that a live subscription pulls a name through us, or that the last
// one has left. Names without a route are remembered.
func (t *Table) Carry(now time.Time, name string, on bool) []Change {
	at := t.epoch.at(now)
	if !on && t.names[name] == nil {
		return nil
	}
	e := t.entry(name)
	e.carry.set(at, on)
	return t.review(nil, e, at, false)
}

// Feed says that a cluster peer pulls a name from us, or does no longer. Its own way
// to the name runs through us then, and what it announces can only be what it would
// fall back on: such routes serve where there is no other. Clients need not be told of.
func (t *Table) Feed(now time.Time, name string, p Peer, on bool) []Change {
	at := t.epoch.at(now)
	k := t.links[p]
	if k == nil || k.gone || p.IsLocal() || !on && t.names[name] == nil {
		return nil
	}
	e := t.entry(name)
	return t.review(nil, e, at, e.feed(k, on))
}

// Advance does what is due. It is to be called at Next, and may be at any time.
func (t *Table) Advance(now time.Time) []Change {
	at := t.epoch.at(now)
	var changes []Change
	for t.agenda.next().past(at) {
		changes = t.review(changes, t.agenda[0], at, false)
	}
	return sorted(changes)
}

// Next is when Advance has work; zero = never, as things stand.
func (t *Table) Next() time.Time { return t.epoch.time(t.agenda.next()) }

// review decides about a name anew and appends what has changed. touched says that
// its routes have.
func (t *Table) review(changes []Change, e *entry, at instant, touched bool) []Change {
	serving, shown := e.serving, e.shown
	touched = t.expire(e, at) || touched
	t.choose(e, at)
	e.show(at)
	t.agenda.schedule(e, e.deadline())
	if e.idle() {
		delete(t.names, e.name)
	}
	moved := !serving.equal(e.serving)
	if !touched && !moved && shown.equal(e.shown) {
		return changes
	}
	return append(changes, Change{Name: e.name, Serving: moved})
}

// expire does away with what time has ended, and says whether that changes which
// routes there are.
func (t *Table) expire(e *entry, at instant) (any bool) {
	for i := len(e.routes) - 1; i >= 0; i-- {
		if k := e.routes[i].link; k.gone && k.until.past(at) {
			any = t.remove(e, k)
		}
	}
	e.carry.expire(at)
	e.unrest.expire(at)
	any = e.ghost.expire(at) || any
	return e.forgive(at) || any
}

// sorted orders changes by name, and makes one of those of the same name.
func sorted(changes []Change) []Change {
	slices.SortStableFunc(changes, func(a, b Change) int { return strings.Compare(a.Name, b.Name) })
	merged := changes[:0]
	for _, c := range changes {
		if last := len(merged) - 1; last >= 0 && merged[last].Name == c.Name {
			merged[last].Serving = merged[last].Serving || c.Serving
		} else {
			merged = append(merged, c)
		}
	}
	return merged
}

// Serving is where we pull a name from.
func (t *Table) Serving(name string) (Choice, bool) { return t.Source(name, Reader{}) }

// Source is where a request of a reader is served from: the serving route, or the
// best other one where that runs through the reader. Nothing: unroutable.
func (t *Table) Source(name string, r Reader) (Choice, bool) {
	e := t.names[name]
	if e == nil {
		return Choice{}, false
	}
	return e.source(r.ID)
}

// Usable says whether a reader may be served from the serving route.
func (t *Table) Usable(name string, r Reader) bool {
	e := t.names[name]
	if e == nil {
		return false
	}
	c := e.current()
	return c != nil && !c.through(r.ID)
}

// Offer is what to tell a reader: the serving route, or the best other one where
// that runs through the reader or does not fit its bound. Our own hop is not on
// the list and has room there.
func (t *Table) Offer(name string, r Reader) (Choice, bool) {
	e := t.names[name]
	if e == nil {
		return Choice{}, false
	}
	return t.offer(e, r)
}

// Explain lists every route of a name, the serving one first, then in the order
// of preference, then those that cannot be used.
func (t *Table) Explain(name string) []Candidate {
	e := t.names[name]
	if e == nil {
		return nil
	}
	return t.explain(e)
}

// Names are those that have a serving route, in no order.
func (t *Table) Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for name, e := range t.names {
			if e.serving.chain != nil && !yield(name) {
				return
			}
		}
	}
}
