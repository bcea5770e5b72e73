package route

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"
)

var (
	seeds = flag.Int("route.seeds", 400, "random meshes for each property")
	only  = flag.Int("route.seed", -1, "the one seed to run, its story told")
)

// eachMesh lets a random mesh of each seed suffer and settle, then has it looked at.
func eachMesh(t *testing.T, k kindOfMesh, look func(t *testing.T, seed int, m *mesh)) {
	t.Helper()
	for seed := range *seeds {
		if *only >= 0 && seed != *only {
			continue
		}
		m := randomMesh(uint64(seed), k)
		if *only >= 0 {
			m.log = []string{}
		}
		m.suffer(30)
		look(t, seed, m)
		for _, f := range m.faults {
			t.Errorf("seed %d: %s", seed, f)
		}
		if *only >= 0 {
			for _, line := range m.log {
				t.Log(line)
			}
			t.Log(m)
		}
	}
}

// TestMeshSettles: whatever happened, no data goes in a circle for more than a second
// (one mesh in thousands needs a little longer: a loop of seven relays is as many
// holds), and ten seconds later all is quiet, but for moves that wait for the last one
// to settle.
func TestMeshSettles(t *testing.T) {
	var long patience
	eachMesh(t, kindOfMesh{}, func(t *testing.T, seed int, m *mesh) {
		m.run(10 * time.Second)
		waiting := m.dwelling()
		moves := m.moves
		m.run(2 * time.Minute)
		if moved := m.moves - moves; moved > 0 && !waiting {
			t.Errorf("seed %d: %d moves long after the last event", seed, moved)
		}
		m.quiet(t, seed)
		m.reached(t, seed)
		long.take(t, seed, m)
	})
	long.judge(t)
}

// patience lets few data loops be longer than a second, and none than two.
type patience struct{ meshes int }

func (p *patience) take(t *testing.T, seed int, m *mesh) {
	if m.longest > time.Second {
		p.meshes++
		t.Logf("seed %d: data went in a circle for %v", seed, m.longest)
	}
	if m.longest > 2*time.Second {
		t.Errorf("seed %d: data went in a circle for %v", seed, m.longest)
	}
}

func (p *patience) judge(t *testing.T) {
	if p.meshes > *seeds/2000 {
		t.Errorf("in %d of %d meshes data went in a circle for more than a second", p.meshes, *seeds)
	}
}

// TestMixedMeshSettles: the same where half of the relays have the rules of the
// Rust relay. Theirs have no guard and no dwell: a few meshes go on moving, as
// seldom as ours let them.
func TestMixedMeshSettles(t *testing.T) {
	restless := 0
	var long patience
	eachMesh(t, kindOfMesh{mixed: true}, func(t *testing.T, seed int, m *mesh) {
		m.run(time.Minute)
		moves := m.moves
		m.run(2 * time.Minute)
		if moved := m.moves - moves; moved > 0 {
			restless++
			t.Logf("seed %d: %d moves in two minutes", seed, moved)
		}
		long.take(t, seed, m)
	})
	long.judge(t)
	if restless > max(1, *seeds/100) {
		t.Errorf("%d of %d meshes do not come to rest", restless, *seeds)
	}
}

// dwelling says whether a relay waits for a move to settle, or for the mesh to.
func (m *mesh) dwelling() bool {
	for _, n := range m.nodes {
		if e := n.table().names["cam"]; e != nil && (e.waiting != 0 || e.unrest.tooMuch()) {
			return true
		}
	}
	return false
}

func (n *simNode) table() *Table { return n.d.(*Table) }

// quiet: nothing is said or moved any more.
func (m *mesh) quiet(t *testing.T, seed int) {
	moves, messages := m.moves, m.messages
	m.run(time.Minute)
	if m.moves != moves || m.messages != messages {
		t.Errorf("seed %d: %d moves and %d messages in a minute in which nothing happened", seed, m.moves-moves, m.messages-messages)
	}
}

// reached: who can reach a publisher has a route, who cannot has none, and the data
// of all who watch comes from one.
func (m *mesh) reached(t *testing.T, seed int) {
	reach := m.connected()
	for i, n := range m.nodes {
		if _, ok := n.d.Serving("cam"); ok != reach[i] {
			t.Errorf("seed %d: node %d: reaches a publisher = %v, has a route = %v", seed, i, reach[i], ok)
		}
		at, steps := n, 0
		for ; at.carried["cam"] && at.upstream("cam", 0) != nil && steps < len(m.nodes); steps++ {
			at = at.upstream("cam", 0)
		}
		if n.viewers["cam"] > 0 && reach[i] && (!at.carried["cam"] || at.published() == 0) {
			t.Errorf("seed %d: data of node %d comes from node %d, which has none", seed, i, at.at)
		}
	}
}

// connected says which nodes reach a publisher.
func (m *mesh) connected() []bool {
	reach := make([]bool, len(m.nodes))
	for i, n := range m.nodes {
		reach[i] = n.published() > 0
	}
	for range m.nodes {
		for _, l := range m.links {
			if l.up && (reach[l.a] || reach[l.b]) {
				reach[l.a], reach[l.b] = true, true
			}
		}
	}
	return reach
}

type kindOfMesh struct {
	mixed bool     // half of the nodes have other rules
	cost  CostKind // of all links
}

func randomMesh(seed uint64, k kindOfMesh) *mesh {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := newMesh(rng)
	size := 3 + rng.IntN(6)
	for range size {
		id := rng.Uint64()>>11 + 1
		if k.mixed && rng.IntN(2) == 0 {
			m.add(id, func() decider { return newPlain(id) })
		} else {
			m.add(id, func() decider { return New(Config{Self: id}) })
		}
	}
	for a := range size {
		for b := range a {
			if b == a-1 || rng.IntN(2) == 0 {
				l := m.randomLink(b, a)
				l.kind = k.cost
				m.links = append(m.links, l)
			}
		}
	}
	for _, l := range m.links {
		m.connect(l)
	}
	return m
}

// suffer lets random things happen, and in the end a publisher be there.
func (m *mesh) suffer(events int) {
	m.publisher = m.rng.Uint64()>>11 + 1
	for range 1 + m.rng.IntN(4) { // one publisher, at several relays: it is dear to get in
		m.ingress()
	}
	m.run(3 * time.Second)
	for range events {
		m.event()
		m.run(time.Duration(m.rng.IntN(3000)) * time.Millisecond)
	}
	if len(m.ingresses()) == 0 {
		m.ingress()
	}
}

func (m *mesh) ingress() {
	n := m.nodes[m.rng.IntN(len(m.nodes))]
	seed := []uint64{0, 20, 20, 50, 1000}[m.rng.IntN(5)]
	m.note("publisher at %d for %d", n.at, seed)
	n.publish("cam", m.publisher, seed)
}

// ingresses are the nodes with a publisher.
func (m *mesh) ingresses() (at []*simNode) {
	for _, n := range m.nodes {
		if n.published() > 0 {
			at = append(at, n)
		}
	}
	return at
}

func (m *mesh) event() {
	n := m.nodes[m.rng.IntN(len(m.nodes))]
	l := m.links[m.rng.IntN(len(m.links))]
	switch k := m.rng.IntN(20); {
	case k < 7:
		n.view("cam", 1)
	case k < 12:
		if n.viewers["cam"] > 0 {
			n.view("cam", -1)
		}
	case k < 16:
		m.note("link %d-%d up: %v", l.a, l.b, !l.up)
		if l.up {
			m.cut(l)
		} else {
			m.connect(l)
		}
	case k == 16:
		m.reprice(l, m.rng.IntN(2), m.randomPrice())
	case k == 17:
		m.note("restart of %d", n.at)
		m.restart(n)
	case k == 18:
		m.ingress()
	default:
		if at := m.ingresses(); len(at) > 0 {
			n := at[m.rng.IntN(len(at))]
			m.note("publisher leaves %d", n.at)
			n.unpublish(n.clients[0], "cam", m.rng.IntN(2) == 0)
		}
	}
}

func (m *mesh) randomPrice() Price {
	prices := []uint64{0, 1, 1, 1, 2, 5, 10, 50}
	return PriceOf(prices[m.rng.IntN(len(prices))])
}

func (m *mesh) randomLink(a, b int) *simLink {
	price := m.randomPrice()
	return &simLink{a: a, b: b, price: [2]Price{price, price}, delay: time.Duration(1+m.rng.IntN(80)) * time.Millisecond}
}
