package route

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// decider is what a simulated relay decides with: a Table, or the rules of the
// other implementation.
type decider interface {
	SetLink(now time.Time, p Peer, l Link) []Change
	Learn(now time.Time, p Peer, name string, r Route) ([]Change, error)
	Withdraw(now time.Time, p Peer, name string) []Change
	Lose(now time.Time, p Peer) []Change
	Carry(now time.Time, name string, on bool) []Change
	Feed(now time.Time, name string, p Peer, on bool) []Change
	Advance(now time.Time) []Change
	Next() time.Time
	Serving(name string) (Choice, bool)
	Offer(name string, r Reader) (Choice, bool)
	Source(name string, r Reader) (Choice, bool)
	Usable(name string, r Reader) bool
}

// mesh is relays joined by links that take their time, in simulated time.
type mesh struct {
	rng   *rand.Rand
	now   time.Time
	queue simQueue
	seq   int
	names []string
	nodes []*simNode
	links []*simLink
	log   []string // nil: not kept

	publisher uint64
	messages  int       // announcements and withdrawals on links
	moves     int       // changes of source, of nodes that carry
	looping   time.Time // since when data goes in a circle; zero = it does not
	longest   time.Duration
	faults    []string
}

// simLink joins two nodes. price is what each end pays to pull over it.
type simLink struct {
	a, b  int
	price [2]Price
	kind  CostKind
	delay time.Duration
	up    bool
	peers [2]Peer // what each end calls the connection
}

type simNode struct {
	m       *mesh
	at      int
	id      uint64
	fresh   func() decider
	d       decider
	ends    map[Peer]*simEnd // connections to other nodes
	order   []Peer
	clients []Peer // that publish
	stamp   uint64 // of the last of them
	seen    func(Change)
	viewers map[string]int
	pulls   map[string][]Peer // where it is subscribed
	carried map[string]bool
	wake    time.Time
}

// simEnd is one end of a connection.
type simEnd struct {
	link   *simLink
	peer   *simNode
	there  Peer // what the other end calls it
	told   map[string]Choice
	pulled map[string]bool // the other end is subscribed
}

type simEvent struct {
	at  time.Time
	seq int
	do  func()
}

type simQueue []simEvent

func (q simQueue) Len() int { return len(q) }
func (q simQueue) Less(i, j int) bool {
	return q[i].at.Before(q[j].at) || q[i].at.Equal(q[j].at) && q[i].seq < q[j].seq
}
func (q simQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *simQueue) Push(x any)   { *q = append(*q, x.(simEvent)) }
func (q *simQueue) Pop() any {
	last := len(*q) - 1
	ev := (*q)[last]
	*q = (*q)[:last]
	return ev
}

func newMesh(rng *rand.Rand) *mesh {
	return &mesh{rng: rng, names: []string{"cam"}, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func (m *mesh) after(d time.Duration, do func()) {
	m.seq++
	heap.Push(&m.queue, simEvent{m.now.Add(d), m.seq, do})
}

// run lets time pass.
func (m *mesh) run(d time.Duration) {
	end := m.now.Add(d)
	for len(m.queue) > 0 && !m.queue[0].at.After(end) {
		ev := heap.Pop(&m.queue).(simEvent)
		m.now = ev.at
		ev.do()
		m.watch()
	}
	m.now = end
	m.watch()
}

func (m *mesh) fault(format string, args ...any) {
	if len(m.faults) < 20 {
		m.faults = append(m.faults, fmt.Sprintf("%v: ", m.now.Format("04:05.000"))+fmt.Sprintf(format, args...))
	}
}

func (m *mesh) note(format string, args ...any) {
	if m.log == nil {
		return
	}
	m.log = append(m.log, m.now.Format("04:05.000 ")+fmt.Sprintf(format, args...))
}

func (m *mesh) add(id uint64, fresh func() decider) *simNode {
	n := &simNode{m: m, at: len(m.nodes), id: id, fresh: fresh}
	n.reset()
	m.nodes = append(m.nodes, n)
	return n
}

func (n *simNode) reset() {
	n.d, n.ends, n.order, n.clients = n.fresh(), make(map[Peer]*simEnd), nil, nil
	n.pulls, n.carried = make(map[string][]Peer), make(map[string]bool)
	if n.viewers == nil {
		n.viewers = make(map[string]int)
	}
	n.wake = time.Time{}
}

var lastPeer Peer

func nextPeer() Peer { lastPeer++; return lastPeer }

// connect brings a link up.
func (m *mesh) connect(l *simLink) {
	l.up = true
	l.peers = [2]Peer{nextPeer(), nextPeer()}
	a, b := m.nodes[l.a], m.nodes[l.b]
	a.attach(l, 0, b)
	b.attach(l, 1, a)
}

func (n *simNode) attach(l *simLink, side int, peer *simNode) {
	p := l.peers[side]
	n.ends[p] = &simEnd{link: l, peer: peer, there: l.peers[1-side], told: make(map[string]Choice), pulled: make(map[string]bool)}
	n.order = append(n.order, p)
	n.took(n.d.SetLink(n.m.now, p, n.linkState(l, side, peer)))
	for _, name := range n.m.names {
		n.tell(name, p)
	}
}

func (n *simNode) linkState(l *simLink, side int, peer *simNode) Link {
	return Link{ID: peer.id, Own: l.price[side], Trusted: true, WireCost: l.kind, Stamp: 1<<40 + uint64(l.peers[side])}
}

// cut takes a link down; the ends notice on their own.
func (m *mesh) cut(l *simLink) {
	if !l.up {
		return
	}
	l.up = false
	for side, at := range []int{l.a, l.b} {
		n, p := m.nodes[at], l.peers[side]
		m.after(time.Duration(m.rng.IntN(200))*time.Millisecond, func() { n.detach(p) })
	}
}

func (n *simNode) detach(p Peer) {
	if n.ends[p] == nil {
		return
	}
	for _, name := range n.m.names {
		if n.ends[p].pulled[name] {
			n.took(n.d.Feed(n.m.now, name, p, false))
		}
	}
	delete(n.ends, p)
	n.order = slices.DeleteFunc(n.order, func(o Peer) bool { return o == p })
	n.took(n.d.Lose(n.m.now, p))
	for _, name := range n.m.names {
		n.pull(name)
	}
}

// reprice changes what an end pays, in place.
func (m *mesh) reprice(l *simLink, side int, c Price) {
	l.price[side] = c
	if l.up {
		n := m.nodes[[]int{l.a, l.b}[side]]
		peer := m.nodes[[]int{l.b, l.a}[side]]
		if n.ends[l.peers[side]] != nil {
			n.took(n.d.SetLink(m.now, l.peers[side], n.linkState(l, side, peer)))
		}
	}
}

// took passes on what has changed.
func (n *simNode) took(changes []Change) {
	for i, c := range changes {
		if i > 0 && changes[i-1].Name >= c.Name {
			n.m.fault("node %d: changes not sorted: %v", n.at, changes)
		}
		if n.seen != nil {
			n.seen(c)
		}
		for _, p := range n.order {
			n.tell(c.Name, p)
		}
		n.pull(c.Name)
	}
	n.rearm()
}

// rearm has Advance called in time.
func (n *simNode) rearm() {
	next := n.d.Next()
	if next.IsZero() || next.Equal(n.wake) {
		return
	}
	n.wake = next
	d := n.d
	n.m.after(max(next.Sub(n.m.now), 0), func() {
		if n.d != d || !n.wake.Equal(next) {
			return
		}
		n.wake = time.Time{}
		n.took(n.d.Advance(n.m.now))
	})
}

// tell sends a peer what it does not know yet.
func (n *simNode) tell(name string, p Peer) {
	end := n.ends[p]
	c, ok := n.d.Offer(name, Reader{ID: end.peer.id})
	old, was := end.told[name]
	if ok {
		n.check(c, end.peer.id)
	}
	if ok == was && (!ok || slices.Equal(old.Hops, c.Hops) && old.Warm == c.Warm && old.Cold == c.Cold) {
		return
	}
	if ok {
		end.told[name] = c
	} else {
		delete(end.told, name)
	}
	m := n.m
	m.messages++
	m.note("%d tells %d: %v %v %d/%d", n.at, end.peer.at, ok, c.Hops, c.Warm, c.Cold)
	hops := append(slices.Clone(c.Hops), n.id)
	end.send(m, func(to *simNode) {
		if !ok {
			to.took(to.d.Withdraw(m.now, end.there, name))
			return
		}
		changes, _ := to.d.Learn(m.now, end.there, name, Route{Hops: hops, Warm: c.Warm, Cold: c.Cold})
		to.took(changes)
	})
}

// check holds an offer to what must never be said.
func (n *simNode) check(c Choice, reader uint64) {
	seen := map[uint64]bool{n.id: true, reader: true}
	for _, h := range c.Hops {
		if h != 0 && seen[h] {
			n.m.fault("node %d offers %d a chain through itself, the reader or one relay twice: %v", n.at, reader, c.Hops)
		}
		seen[h] = true
	}
}

// send has the other end do something when the word has got there.
func (end *simEnd) send(m *mesh, do func(to *simNode)) {
	to, there := end.peer, end.there
	m.after(end.link.delay, func() {
		if to.ends[there] != nil && end.link.up {
			do(to)
		}
	})
}

// pull subscribes where the name is served from, if anybody wants it.
func (n *simNode) pull(name string) {
	want := n.wanted(name)
	if want != n.carried[name] {
		n.carried[name] = want
		n.took(n.d.Carry(n.m.now, name, want))
	}
	was, is := n.pulls[name], n.targets(name)
	n.pulls[name] = is
	for _, p := range was {
		if !slices.Contains(is, p) {
			n.subscribe(name, p, false)
			n.m.moves++
		}
	}
	for _, p := range is {
		if !slices.Contains(was, p) {
			n.subscribe(name, p, true)
			c, _ := n.d.Serving(name)
			n.m.note("%d pulls from %d; serving via %v (%v)", n.at, p, c.Hops, c.Reason)
		}
	}
}

// targets is where the name is pulled from.
func (n *simNode) targets(name string) (to []Peer) {
	readers := []uint64{0}
	if _, ok := n.d.(*plain); ok {
		readers = n.readers(name)
	}
	if !n.carried[name] {
		return nil
	}
	for _, id := range readers {
		c, ok := n.d.Source(name, Reader{ID: id})
		if ok && !c.Lingering && !slices.Contains(to, c.Peer) {
			to = append(to, c.Peer)
		}
	}
	return to
}

// readers are the ids that pull from the node, 0 for viewers.
func (n *simNode) readers(name string) (ids []uint64) {
	if n.viewers[name] > 0 {
		ids = append(ids, 0)
	}
	for _, p := range n.order {
		if end := n.ends[p]; end.pulled[name] {
			ids = append(ids, end.peer.id)
		}
	}
	return ids
}

// wanted says whether a viewer or a peer is to be served.
func (n *simNode) wanted(name string) bool {
	if n.viewers[name] > 0 {
		return true
	}
	return slices.ContainsFunc(n.order, func(p Peer) bool {
		end := n.ends[p]
		return end.pulled[name] && n.d.Usable(name, Reader{ID: end.peer.id})
	})
}

func (n *simNode) subscribe(name string, p Peer, on bool) {
	end := n.ends[p]
	if end == nil {
		return // a publisher's, or gone
	}
	end.send(n.m, func(to *simNode) {
		to.ends[end.there].pulled[name] = on
		to.took(to.d.Feed(to.m.now, name, end.there, on))
		to.pull(name)
	})
}

func (n *simNode) view(name string, by int) {
	n.viewers[name] += by
	n.pull(name)
}

// publish is a client of a node that publishes; id 0 = it says nothing of itself.
func (n *simNode) publish(name string, id, seed uint64) (stop func()) {
	p := nextPeer()
	n.stamp = 1<<40 + uint64(p)
	n.took(n.d.SetLink(n.m.now, p, Link{ID: id, Stamp: n.stamp, Own: PriceOf(0)}))
	n.clients = append(n.clients, p)
	changes, _ := n.d.Learn(n.m.now, p, name, Route{Hops: []uint64{id}, Warm: seed, Cold: seed})
	n.took(changes)
	return func() { n.unpublish(p, name, true) }
}

// published is how many clients publish.
func (n *simNode) published() int { return len(n.clients) }

// unpublish ends a client, with or without a word.
func (n *simNode) unpublish(p Peer, name string, clean bool) {
	n.clients = slices.DeleteFunc(n.clients, func(c Peer) bool { return c == p })
	if clean {
		n.took(n.d.Withdraw(n.m.now, p, name))
	}
	n.took(n.d.Lose(n.m.now, p))
	n.pull(name)
}

// restart loses all that a node knows. Its links come back after a while.
func (m *mesh) restart(n *simNode) {
	for _, l := range m.links {
		if l.up && (m.nodes[l.a] == n || m.nodes[l.b] == n) {
			m.cut(l)
			m.after(time.Second+time.Duration(m.rng.IntN(1000))*time.Millisecond, func() {
				if !l.up {
					m.connect(l)
				}
			})
		}
	}
	n.reset()
}

// watch measures for how long data goes in a circle.
func (m *mesh) watch() {
	if !slices.ContainsFunc(m.names, m.circle) {
		m.looping = time.Time{}
		return
	}
	if m.looping.IsZero() {
		m.looping = m.now
	}
	if d := m.now.Sub(m.looping); d > time.Second && m.longest <= time.Second {
		m.note("data goes in a circle")
	}
	m.longest = max(m.longest, m.now.Sub(m.looping))
}

// circle follows the data of all who pull, upwards.
func (m *mesh) circle(name string) bool {
	for _, n := range m.nodes {
		for _, reader := range n.readers(name) {
			at := n
			for steps := 0; at != nil; steps++ {
				if steps > 2*len(m.nodes) {
					return true
				}
				at, reader = at.upstream(name, reader), at.id
			}
		}
	}
	return false
}

// upstream is the node that n pulls from for a reader; nil = a publisher, or none.
func (n *simNode) upstream(name string, reader uint64) *simNode {
	if !n.carried[name] {
		return nil
	}
	if _, ok := n.d.(*Table); ok {
		reader = 0
	}
	c, ok := n.d.Source(name, Reader{ID: reader})
	if !ok || !slices.Contains(n.pulls[name], c.Peer) {
		return nil
	}
	if end := n.ends[c.Peer]; end != nil {
		return end.peer
	}
	return nil
}

// String draws where everybody pulls from.
func (m *mesh) String() string {
	var b strings.Builder
	for _, l := range m.links {
		fmt.Fprintf(&b, "link %d-%d prices %v/%v delay %v up %v\n", l.a, l.b, l.price[0], l.price[1], l.delay, l.up)
	}
	for _, n := range m.nodes {
		c, ok := n.d.Serving("cam")
		fmt.Fprintf(&b, "node %d id %d viewers %v carried %v: %v %v\n", n.at, n.id, n.viewers["cam"], n.carried["cam"], ok, c)
	}
	return b.String()
}
