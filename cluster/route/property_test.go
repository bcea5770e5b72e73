package route

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var seeds = flag.Int("route.seeds", 150, "random meshes for each property")

// TestMeshSettles lets random meshes of relays suffer, and looks at what must hold.
func TestMeshSettles(t *testing.T) {
	worst, moves, msgs := time.Duration(0), 0, 0
	for seed := range *seeds {
		m := randomMesh(uint64(seed), false)
		m.suffer(30)
		m.run(10 * time.Second)
		bMoves, bMsgs := m.moves, m.messages
		m.run(3 * time.Minute)
		if m.messages > bMsgs {
			fmt.Println("seed", seed, "not quiet: moves", m.moves-bMoves, "msgs", m.messages-bMsgs)
			moves++
			msgs += m.messages - bMsgs
		}
		if m.longest > time.Second {
			fmt.Println("seed", seed, "loop", m.longest)
		}
		worst = max(worst, m.longest)
		for _, f := range m.faults {
			t.Errorf("seed %d: %s", seed, f)
		}
	}
	fmt.Println("worst loop", worst, "unquiet", moves, msgs)
}

func randomMesh(seed uint64, mixed bool) *mesh {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := newMesh(rng)
	size := 3 + rng.IntN(6)
	for range size {
		id := rng.Uint64()>>11 + 1
		m.add(id, func() decider { return New(Config{Self: id}) })
	}
	for a := range size {
		for b := range a {
			if b == a-1 || rng.IntN(2) == 0 {
				m.links = append(m.links, m.randomLink(b, a))
			}
		}
	}
	for _, l := range m.links {
		m.connect(l)
	}
	return m
}

func (m *mesh) randomLink(a, b int) *simLink {
	prices := []uint64{0, 1, 1, 1, 2, 5, 10, 50}
	price := PriceOf(prices[m.rng.IntN(len(prices))])
	return &simLink{a: a, b: b, price: [2]Price{price, price}, delay: time.Duration(1+m.rng.IntN(80)) * time.Millisecond}
}

// suffer lets random things happen.
func (m *mesh) suffer(events int) {
	id := m.rng.Uint64()>>11 + 1
	// the same publisher reaches the mesh at several ingresses, dear ones
	for range 1 + m.rng.IntN(4) {
		n := m.nodes[m.rng.IntN(len(m.nodes))]
		n.publish("cam", id, []uint64{0, 20, 20, 50}[m.rng.IntN(4)])
	}
	m.run(3 * time.Second)
	for range events {
		m.event()
		m.run(time.Duration(m.rng.IntN(3000)) * time.Millisecond)
	}
}

func (m *mesh) event() {
	m.events++
	n := m.nodes[m.rng.IntN(len(m.nodes))]
	switch k := m.rng.IntN(10); {
	case k < 4:
		n.view("cam", 1)
	case k < 7:
		if n.viewers["cam"] > 0 {
			n.view("cam", -1)
		}
	default:
		l := m.links[m.rng.IntN(len(m.links))]
		if l.up {
			m.cut(l)
		} else {
			m.connect(l)
		}
	}
}
