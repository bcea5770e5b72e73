package route

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// relays makes a mesh of relays with ids from 101, joined by links as "0-1:10".
func relays(n int, links ...string) *mesh {
	m := newMesh(rand.New(rand.NewPCG(1, 1)))
	for i := range n {
		id := 101 + uint64(i)
		m.add(id, func() decider { return New(Config{Self: id}) })
	}
	for _, text := range links {
		l := &simLink{delay: 10 * time.Millisecond}
		var price uint64
		if _, err := fmt.Sscanf(text, "%d-%d:%d", &l.a, &l.b, &price); err != nil {
			panic(err)
		}
		l.price = [2]Price{PriceOf(price), PriceOf(price)}
		m.links = append(m.links, l)
	}
	for _, l := range m.links {
		m.connect(l)
	}
	return m
}

// full are the links of a full mesh.
func full(n int) (links []string) {
	for a := range n {
		for b := range a {
			links = append(links, fmt.Sprintf("%d-%d:1", b, a))
		}
	}
	return links
}

func (n *simNode) wantHops(t *testing.T, want ...uint64) {
	t.Helper()
	c, _ := n.d.Serving("cam")
	if !slices.Equal(c.Hops, want) {
		t.Errorf("node %d is served over %v, want %v", n.at, c.Hops, want)
	}
}

// forgotten: no node has anything left of the name, once the echoes are over.
func (m *mesh) forgotten(t *testing.T) {
	t.Helper()
	m.run(10 * time.Second)
	for _, n := range m.nodes {
		if d := n.table(); len(d.names) != 0 || len(d.chains) != 0 || len(d.agenda) != 0 {
			t.Errorf("node %d still has %d names, %d chains, %d deadlines", n.at, len(d.names), len(d.chains), len(d.agenda))
		}
	}
}

// TestChain is G1 and G2: the list has the relays in order, and a second viewer is
// no second pull.
func TestChain(t *testing.T) {
	m := relays(3, "0-1:1", "1-2:1")
	m.nodes[0].publish("cam", 9, 0)
	m.nodes[2].view("cam", 1)
	m.run(5 * time.Second)
	m.nodes[2].wantHops(t, 9, 101, 102)
	messages := m.messages
	m.nodes[2].view("cam", 1)
	m.nodes[1].view("cam", 1)
	m.run(5 * time.Second)
	if m.messages != messages {
		t.Errorf("more viewers cause %d announcements", m.messages-messages)
	}
	if pulls := m.nodes[2].pulls["cam"]; len(pulls) != 1 {
		t.Errorf("the last relay pulls from %v", pulls)
	}
}

// TestOneCopyOverTheDearLink is A10: two relays of one site pull once over each
// metered link.
func TestOneCopyOverTheDearLink(t *testing.T) {
	m := relays(3, "0-1:10", "0-2:10", "1-2:0")
	m.nodes[0].publish("cam", 9, 0)
	m.run(time.Second)
	m.nodes[1].view("cam", 1)
	m.run(time.Second)
	m.nodes[2].view("cam", 1)
	m.run(5 * time.Second)
	m.nodes[1].wantHops(t, 9, 101)
	m.nodes[2].wantHops(t, 9, 101, 102)
}

// TestSameWinnerEverywhere is G3: with equal ways the hash decides, so that all
// relays decide alike, whatever came first, and again after a restart.
func TestSameWinnerEverywhere(t *testing.T) {
	square := []string{"0-1:1", "0-2:1", "1-3:1", "2-3:1"}
	winner := func(publishAfter time.Duration, restart bool) []uint64 {
		m := relays(4, square...)
		m.run(publishAfter)
		m.nodes[0].publish("cam", 9, 0)
		m.run(5 * time.Second)
		if restart {
			m.restart(m.nodes[3])
			m.run(10 * time.Second)
		}
		c, _ := m.nodes[3].d.Serving("cam")
		return c.Hops
	}
	want := winner(time.Second, false)
	for _, restart := range []bool{false, true} {
		if got := winner(0, restart); !slices.Equal(got, want) {
			t.Errorf("the far corner is served over %v, and another time over %v", want, got)
		}
	}
}

// TestMassWithdrawal is G10: eight relays, a hundred broadcasts over seven of them;
// when all end, the eighth hears of the end of each once from each peer, tells
// nobody of an echo, and each can be published again.
func TestMassWithdrawal(t *testing.T) {
	m := relays(8, full(8)...)
	m.names = nil
	for i := range 100 {
		m.names = append(m.names, fmt.Sprintf("cam%02d", i))
	}
	publish := func() (stops []func()) {
		for i, name := range m.names {
			stops = append(stops, m.nodes[i%7].publish(name, 1000+uint64(i), 0))
		}
		m.run(10 * time.Second)
		return stops
	}
	for round := range 2 {
		stops := publish()
		ended := make(map[string]int)
		m.nodes[7].seen = func(c Change) {
			if _, ok := m.nodes[7].d.Serving(c.Name); !ok && c.Serving {
				ended[c.Name]++
			}
		}
		for _, stop := range stops {
			stop()
		}
		m.run(10 * time.Second)
		for _, name := range m.names {
			if ended[name] != 1 {
				t.Errorf("round %d: %s ended %d times", round, name, ended[name])
			}
		}
		m.nodes[7].seen = nil
	}
	m.forgotten(t)
}

// TestRestartOfThePublishersRelay is A02: six relays, the publisher and its relay
// go and come. Nobody is taught a dead way.
func TestRestartOfThePublishersRelay(t *testing.T) {
	m := relays(6, full(6)...)
	m.nodes[0].publish("cam", 9, 0)
	m.nodes[3].view("cam", 1)
	m.run(5 * time.Second)
	m.restart(m.nodes[0])
	m.run(5 * time.Second)
	for _, n := range m.nodes {
		if c, ok := n.d.Serving("cam"); ok {
			t.Errorf("node %d is served over %v, which is dead", n.at, c.Hops)
		}
	}
	m.nodes[3].view("cam", -1)
	m.forgotten(t)
}

// TestIdleMesh is A01: in a ring with one publisher nothing is said once all know.
func TestIdleMesh(t *testing.T) {
	m := relays(3, "0-1:1", "1-2:1", "0-2:1")
	m.nodes[0].publish("cam", 9, 0)
	m.run(5 * time.Second)
	messages := m.messages
	m.run(time.Minute)
	if m.messages != messages {
		t.Errorf("%d announcements in an idle minute", m.messages-messages)
	}
}

// TestTogglesAreLinear is A04: of a thousand publications that come and go in a
// ring, each costs the same few messages.
func TestTogglesAreLinear(t *testing.T) {
	m := relays(5, "0-1:1", "1-2:1", "2-3:1", "3-4:1", "0-4:1")
	for range 1000 {
		stop := m.nodes[0].publish("cam", 9, 0)
		m.run(time.Second)
		stop()
		m.run(time.Second)
	}
	if limit := 1000 * 4 * len(m.links); m.messages > limit {
		t.Errorf("%d messages, want at most %d", m.messages, limit)
	}
	m.forgotten(t)
}

// TestShortHopLists is G11: a partial mesh in which lists may be two longer than its
// diameter: all learn of the name, and of its end.
func TestShortHopLists(t *testing.T) {
	m := newMesh(rand.New(rand.NewPCG(1, 1)))
	for i := range 8 {
		id := 101 + uint64(i)
		m.add(id, func() decider { return New(Config{Self: id, MaxHops: 6}) })
	}
	for i := range 8 { // a ring of eight has a diameter of four
		m.links = append(m.links, &simLink{a: i, b: (i + 1) % 8, delay: 10 * time.Millisecond})
		m.connect(m.links[i])
	}
	stop := m.nodes[0].publish("cam", 9, 0)
	m.run(5 * time.Second)
	for _, n := range m.nodes {
		if _, ok := n.d.Serving("cam"); !ok {
			t.Errorf("node %d has no route", n.at)
		}
	}
	stop()
	m.forgotten(t)
}

// TestMessagesPerEvent: what one publication, end, viewer or cut causes in a full
// mesh is bounded by the number of links.
func TestMessagesPerEvent(t *testing.T) {
	m := relays(8, full(8)...)
	var stop func()
	events := map[string]func(){
		"1 publish": func() { stop = m.nodes[0].publish("cam", 9, 0) },
		"2 view":    func() { m.nodes[5].view("cam", 1) },
		"3 cut":     func() { m.cut(m.links[0]) },
		"4 connect": func() { m.connect(m.links[0]) },
		"5 leave":   func() { m.nodes[5].view("cam", -1) },
		"6 end":     func() { stop() },
	}
	for _, event := range []string{"1 publish", "2 view", "3 cut", "4 connect", "5 leave", "6 end"} {
		messages := m.messages
		events[event]()
		m.run(30 * time.Second)
		if n, limit := m.messages-messages, 4*len(m.links); n > limit {
			t.Errorf("%s causes %d messages, want at most %d", event, n, limit)
		}
	}
}

// TestColdPricesAreLowest: while nobody watches, every relay is served at the lowest
// sum of prices there is.
func TestColdPricesAreLowest(t *testing.T) {
	for seed := range 100 {
		m := randomMesh(uint64(seed), kindOfMesh{})
		m.publisher = 9
		for range 3 {
			m.ingress()
		}
		m.run(10 * time.Second)
		want := m.shortest()
		for i, n := range m.nodes {
			if c, _ := n.d.Serving("cam"); c.Cold != want[i] {
				t.Errorf("seed %d: node %d pays %d, and could pay %d", seed, i, c.Cold, want[i])
			}
		}
	}
}

// shortest are the lowest prices, by trying all links often enough.
func (m *mesh) shortest() []uint64 {
	price := make([]uint64, len(m.nodes))
	for i, n := range m.nodes {
		price[i] = MaxCost
		for _, r := range n.table().names["cam"].routes {
			if !r.link.Trusted {
				price[i] = min(price[i], r.warm)
			}
		}
	}
	for range m.nodes {
		for _, l := range m.links {
			price[l.a] = min(price[l.a], price[l.b]+l.price[0].Cost)
			price[l.b] = min(price[l.b], price[l.a]+l.price[1].Cost)
		}
	}
	return price
}

// TestPublisherWithoutID is G13: a triangle in which nobody knows the publisher.
func TestPublisherWithoutID(t *testing.T) {
	m := relays(3, "0-1:1", "1-2:1", "0-2:1")
	m.nodes[0].publish("cam", 0, 0)
	m.nodes[1].view("cam", 1)
	m.run(time.Second)
	for _, n := range m.nodes {
		n.seen = func(c Change) {
			if _, ok := n.d.Serving(c.Name); !ok {
				t.Errorf("node %d: withdrawn", n.at)
			}
		}
	}
	m.run(10 * time.Second)
	m.nodes[2].wantHops(t, m.nodes[0].stamp, 0, 101)
}
