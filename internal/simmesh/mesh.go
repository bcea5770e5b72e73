package simmesh

import (
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/internal/simlink"
	"github.com/moqmesh/moqmesh/internal/testcert"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// version is what all relays and clients of a mesh speak.
const version = lite.V06

// limits let all groups of the time in which nobody notices a cut come at once. Relays as they are shipped give up the
// oldest where they cannot send so many at a time.
var limits = session.Limits{OpenGroups: 512}

// Mesh is relays joined by links. Its methods are for the one goroutine of the test.
type Mesh struct {
	t       testing.TB
	net     *simlink.Network
	cert    tls.Certificate
	latency time.Duration
	relays  []*Relay // in the order in which the links name them
	links   []*Link
	clients int

	mu      sync.Mutex         // guards what follows
	sockets map[string]*Link   // of relays that dial
	members map[string]*member // by address
	said    time.Time          // when the last announcement came anywhere
}

// New starts relays and waits until all links between them are up. Each link is "a-b", or "a-b:10" where pulling over
// it costs 10 and not 1: relay a dials b. A packet takes latency over a link. Call it in a bubble, first of all.
func New(t testing.TB, latency time.Duration, links ...string) *Mesh {
	t.Helper()
	m := Prepare(t, latency, links...)
	m.Start()
	return m
}

// Prepare is New without starting anything: Mesh.Start does.
func Prepare(t testing.TB, latency time.Duration, links ...string) *Mesh {
	t.Helper()
	t.Cleanup(func() { time.Sleep(20 * time.Second) }) // closed connections take their time
	m := &Mesh{t: t, net: simlink.New(t, 1), latency: latency, sockets: make(map[string]*Link), members: make(map[string]*member)}
	m.cert = testcert.NewCA(t, "ca").Server(t, "localhost").TLS
	for _, spec := range links {
		l, err := parseLink(spec)
		if err != nil {
			t.Fatal(err)
		}
		l.m, l.from, l.to = m, m.join(l.names[0]), m.join(l.names[1])
		l.line = simlink.Line{Delay: latency}
		m.links = append(m.links, l)
	}
	return m
}

// join is the relay of that name, made where there is none.
func (m *Mesh) join(name string) *Relay {
	for _, r := range m.relays {
		if r.name == name {
			return r
		}
	}
	r := &Relay{m: m, name: name, number: len(m.relays) + 1}
	r.renew(uint64(r.number))
	m.relays = append(m.relays, r)
	m.t.Cleanup(r.Stop)
	return r
}

// Start starts all relays at once and waits until every link is up.
func (m *Mesh) Start() {
	m.t.Helper()
	for _, r := range m.relays {
		r.start()
	}
	m.AwaitLinks(30 * time.Second)
}

// AwaitLinks waits until every link is up.
func (m *Mesh) AwaitLinks(most time.Duration) time.Duration {
	m.t.Helper()
	return m.Until(most, func() bool {
		up := 0
		for _, r := range m.relays {
			up += r.dialled()
		}
		return up == len(m.links)
	})
}

// Relay is the relay of that name.
func (m *Mesh) Relay(name string) *Relay {
	m.t.Helper()
	for _, r := range m.relays {
		if r.name == name {
			return r
		}
	}
	m.t.Fatalf("no relay %q", name)
	return nil
}

// Relays are all of them.
func (m *Mesh) Relays() []*Relay { return m.relays }

// Link is the link of that name, such as "a-b".
func (m *Mesh) Link(name string) *Link {
	m.t.Helper()
	for _, l := range m.links {
		if l.String() == name {
			return l
		}
	}
	m.t.Fatalf("no link %q", name)
	return nil
}

// Links are all of them.
func (m *Mesh) Links() []*Link { return m.links }

// Cut loses every packet of these links from now on. Nobody is told.
func (m *Mesh) Cut(links ...string) {
	m.t.Helper()
	for _, name := range links {
		m.Link(name).set(simlink.Line{Loss: 1})
	}
}

// Heal undoes Cut and Partition, everywhere where no link is given.
func (m *Mesh) Heal(links ...string) {
	m.t.Helper()
	if len(links) == 0 {
		for _, l := range m.links {
			l.set(simlink.Line{Delay: m.latency})
		}
	}
	for _, name := range links {
		m.Link(name).set(simlink.Line{Delay: m.latency})
	}
}

// Partition cuts every link between these relays and all others.
func (m *Mesh) Partition(side ...string) {
	m.t.Helper()
	in := make(map[*Relay]bool)
	for _, name := range side {
		in[m.Relay(name)] = true
	}
	for _, l := range m.links {
		if in[l.from] != in[l.to] {
			l.set(simlink.Line{Loss: 1})
		}
	}
}

// pace is how exactly Until measures.
const pace = 10 * time.Millisecond

// Until waits until something holds, and says how long that took. The test fails where it takes longer than most.
func (m *Mesh) Until(most time.Duration, holds func() bool) time.Duration {
	m.t.Helper()
	for start := time.Now(); ; time.Sleep(pace) {
		synctest.Wait()
		took := time.Since(start)
		if holds() {
			return took
		}
		if took >= most {
			m.t.Fatalf("after %v not all is as it should be: %v", took, m)
		}
	}
}

// silence is how long nothing must have been announced for a mesh to be quiet: longer than every hold and than the
// shortest wait between two moves.
const silence = 5 * time.Second

// Quiet waits until nobody announces anything any more, and says how long that took, the silence left out.
func (m *Mesh) Quiet(most time.Duration) time.Duration {
	m.t.Helper()
	start := time.Now()
	m.Until(most+silence, func() bool {
		last := m.lastSaid()
		return time.Since(start) >= silence && time.Since(last) >= silence
	})
	return max(m.lastSaid().Sub(start), 0)
}

func (m *Mesh) lastSaid() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.said
}

// Listing are the relays that serve a path.
func (m *Mesh) Listing(path string) (names []string) {
	for _, r := range m.relays {
		if r.Lists(path) {
			names = append(names, r.name)
		}
	}
	return names
}

// Messages are the announcements that crossed all links so far.
func (m *Mesh) Messages() (n Messages) {
	for _, l := range m.links {
		n = n.plus(l.Messages())
	}
	return n
}

// String says which links are up.
func (m *Mesh) String() string {
	var b strings.Builder
	for _, r := range m.relays {
		fmt.Fprintf(&b, "%s lists %d paths and has %d of its links; ", r.name, r.origin.Len(), r.dialled())
	}
	return strings.TrimSuffix(b.String(), "; ")
}

// claim notes whose socket an address is.
func (m *Mesh) claim(at string, l *Link) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sockets[at] = l
}

// linkOf is the link that an address belongs to; nil where it is a client's.
func (m *Mesh) linkOf(at net.Addr) *Link {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sockets[at.String()]
}

// admit notes whose address a client's is.
func (m *Mesh) admit(at string, c *member) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.members[at] = c
}

// memberAt is the client of an address.
func (m *Mesh) memberAt(at net.Addr) *member {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.members[at.String()]
}
