package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/internal/simlink"
	"github.com/moqmesh/moqmesh/internal/testcert"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// mesh is relays over real QUIC on a simulated network: what gossip needs of one.
type mesh struct {
	t     *testing.T
	net   *simlink.Network
	cert  tls.Certificate
	nodes []*node
}

// node is one relay of a mesh.
type node struct {
	m       *mesh
	number  int
	origin  *moq.Origin
	cluster *Cluster
	stop    func()

	mu    sync.Mutex
	log   bytes.Buffer
	hosts []*simlink.Host
	line  simlink.Line
	ports int
}

var goodLine = simlink.Line{Delay: 10 * time.Millisecond}

// inMesh runs a test in a bubble.
func inMesh(t *testing.T, test func(m *mesh)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(20 * time.Second) }) // closed connections take their time
		m := &mesh{t: t, net: simlink.New(t, 1)}
		m.cert = testcert.NewCA(t, "ca").Server(t, "localhost").TLS
		test(m)
	})
}

func addr(number, port int) string { return fmt.Sprintf("10.0.0.%d:%d", number, port) }
func nodeURL(number int) string    { return "moqt://" + addr(number, 4443) + "/" }

// start runs the relay of a number, which dials the others given by theirs. Relays find each other.
func (m *mesh) start(number int, dials ...int) *node {
	m.t.Helper()
	n := &node{m: m, number: number, line: goodLine, origin: moq.NewOrigin(uint64(number), moq.NewCache(0))}
	cfg := Config{Node: nodeURL(number), Mesh: true, Origin: n.origin, Log: slog.New(slog.NewTextHandler(n, nil))}
	cfg.Dial = DialClient(client.Config{
		Origin: n.origin, Versions: []lite.Version{lite.V06},
		Dial: transport.DialConfig{TLS: &tls.Config{InsecureSkipVerify: true}, WebSocketDelay: -1, Listen: n.listen},
	})
	for _, d := range dials {
		cfg.Static = append(cfg.Static, entry(m.t, nodeURL(d)))
	}
	var err error
	if n.cluster, err = New(cfg); err != nil {
		m.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(m.t.Context())
	var running sync.WaitGroup
	running.Go(func() { n.serve(ctx) })
	running.Go(func() { n.cluster.Run(ctx) })
	n.stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		time.Sleep(2 * time.Second)
	})
	m.t.Cleanup(n.stop)
	m.nodes = append(m.nodes, n)
	return n
}

func (n *node) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.log.Write(p)
}

func (n *node) said(words string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Count(n.log.String(), words)
}

func (n *node) host(port int) *simlink.Host {
	n.mu.Lock()
	defer n.mu.Unlock()
	h := n.m.net.Host(addr(n.number, port), n.line)
	n.hosts = append(n.hosts, h)
	return h
}

// listen opens the socket of a dial.
func (n *node) listen(string) (net.PacketConn, error) {
	n.mu.Lock()
	n.ports++
	port := 10_000 + n.ports
	n.mu.Unlock()
	return n.host(port), nil
}

// set changes the line of the node, now and for sockets to come.
func (n *node) set(l simlink.Line) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.line = l
	for _, h := range n.hosts {
		h.Set(l)
	}
}

// serve takes peers in as a relay does.
func (n *node) serve(ctx context.Context) {
	l, err := transport.Listen(n.host(4443), transport.ListenConfig{
		ALPNs: transport.ALPNs([]lite.Version{lite.V06}), TLS: &tls.Config{Certificates: []tls.Certificate{n.m.cert}},
	})
	if err != nil {
		n.m.t.Error(err)
		return
	}
	l.Serve(ctx, func(ctx context.Context, in *transport.Incoming) {
		s, err := session.Handshake(ctx, in.Conn, session.Config{
			Server: true, Version: lite.V06, Setup: lite.Setup{Hop: n.origin.ID()},
		})
		if err != nil {
			return
		}
		setup, _ := s.PeerSetup(ctx)
		leave, err := n.cluster.Join(Inbound{Remote: in.Conn.RemoteAddr().String(), Setup: setup, Since: time.Now(), Stats: in.Conn.Stats})
		if err != nil {
			s.Close(session.CodeInternal, "")
			return
		}
		defer leave()
		s.Run(ctx, session.Access{Origin: n.origin, Peer: true})
	})
}

// links lists the links that are up, as "1>2": the one that dialled first.
func (m *mesh) links() (links []string) {
	synctest.Wait()
	for _, n := range m.nodes {
		for _, l := range n.cluster.Links() {
			if !l.Inbound && l.State.up() {
				links = append(links, fmt.Sprintf("%d>%d", n.number, l.HopID))
			}
		}
	}
	slices.Sort(links)
	return links
}

// await waits until exactly these links are up, at most for a time.
func (m *mesh) await(most time.Duration, want ...string) {
	m.t.Helper()
	for deadline := time.Now().Add(most); ; time.Sleep(100 * time.Millisecond) {
		got := m.links()
		if slices.Equal(got, want) {
			return
		}
		if time.Now().After(deadline) {
			m.t.Fatalf("after %v the links are %v, want %v", most, got, want)
		}
	}
}

// TestGossip is scenario F10: all know one, and end with one session for each pair, the lesser URL dialling. The
// rendezvous only waits (F11).
func TestGossip(t *testing.T) {
	inMesh(t, func(m *mesh) {
		m.start(9)
		for n := range 4 {
			m.start(n+1, 9)
		}
		m.await(10*time.Second, "1>2", "1>3", "1>4", "1>9", "2>3", "2>4", "2>9", "3>4", "3>9", "4>9")
		time.Sleep(5 * time.Minute)
		m.await(0, "1>2", "1>3", "1>4", "1>9", "2>3", "2>4", "2>9", "3>4", "3>9", "4>9")
		nodes := m.nodes[0].cluster.Nodes()
		if len(nodes) != 4 {
			t.Fatalf("the rendezvous knows %+v, want four nodes", nodes)
		}
		for i, n := range nodes {
			if n.Node != nodeURL(i+1) || n.HopID != uint64(i+1) || !n.Announced || len(n.Links) != 1 || !n.Links[0].Inbound {
				t.Errorf("node %+v", n)
			}
		}
		if got := m.nodes[1].said("discovered cluster peer; dialing"); got != 3 {
			t.Errorf("relay 1 has discovered %d, want 3", got)
		}
		if got := m.nodes[0].said("dialing cluster peer"); got != 0 {
			t.Error("the rendezvous dials")
		}
	})
}

// TestGossipedPeerLeaves is scenarios F13 and F14: one that comes back soon was never given up, one that does not is.
func TestGossipedPeerLeaves(t *testing.T) {
	inMesh(t, func(m *mesh) {
		m.start(9)
		a, b := m.start(1, 9), m.start(2, 9)
		m.await(10*time.Second, "1>2", "1>9", "2>9")
		b.stop()
		m.nodes = m.nodes[:2]
		time.Sleep(20 * time.Second)
		if got := a.said("no longer wanted"); got != 0 {
			t.Error("given up after 20s")
		}
		b = m.start(2, 9)
		m.await(15*time.Second, "1>2", "1>9", "2>9")
		if got := a.said("discovered cluster peer"); got != 1 {
			t.Errorf("discovered %d times, want once: it was never forgotten", got)
		}
		b.stop()
		m.nodes = m.nodes[:2]
		time.Sleep(peers.Stale - 3*time.Second) // b has stopped 2 s ago
		if got := a.said("no longer wanted"); got != 0 {
			t.Error("given up before a minute")
		}
		time.Sleep(peers.Sweep + 15*time.Second)
		if got := a.said("no longer wanted"); got != 1 || len(a.cluster.Links()) != 1 {
			t.Errorf("given up %d times, links %+v", got, a.cluster.Links())
		}
	})
}

// TestPartition is report A15: one of three is cut off for much longer than others are remembered, and finds back.
func TestPartition(t *testing.T) {
	inMesh(t, func(m *mesh) {
		m.start(9)
		m.start(1, 9)
		cut := m.start(2, 9)
		m.await(10*time.Second, "1>2", "1>9", "2>9")
		cut.set(simlink.Line{Loss: 1})
		m.await(time.Minute, "1>9")
		time.Sleep(3 * (peers.Stale + peers.Sweep))
		if cut.said("no cluster peer is connected") < 3 || m.nodes[1].said("no cluster peer is connected") != 0 {
			t.Error("the one that is cut off raises no alarm, or another one does")
		}
		if got := cut.cluster.Alone(time.Now()); got < 4*time.Minute {
			t.Errorf("alone for %v", got)
		}
		cut.set(goodLine)
		m.await(30*time.Second, "1>2", "1>9", "2>9")
		if got := cut.cluster.Alone(time.Now()); got != 0 {
			t.Errorf("alone for %v, though linked", got)
		}
	})
}

// Two that know each other only by gossip find each other again though the rendezvous is gone for good.
func TestPartitionWithoutRendezvous(t *testing.T) {
	inMesh(t, func(m *mesh) {
		rendezvous := m.start(9)
		m.start(1, 9)
		cut := m.start(2, 9)
		m.await(10*time.Second, "1>2", "1>9", "2>9")
		rendezvous.stop()
		m.nodes = m.nodes[1:]
		m.await(30*time.Second, "1>2")
		cut.set(simlink.Line{Loss: 1})
		time.Sleep(10 * time.Minute)
		m.await(0)
		cut.set(goodLine)
		m.await(30*time.Second, "1>2")
		time.Sleep(5 * time.Minute)
		m.await(0, "1>2")
	})
}

// When an outage of our own ends, those whose withdrawal it was have a minute to announce themselves again.
func TestOutageIsNobodysWithdrawal(t *testing.T) {
	cfg := static(t, "https://z.example/")
	cfg.Node, cfg.Mesh = "https://a.example/", true
	run(t, cfg, func(t *testing.T, w *world) {
		advert := w.hear("https:/f.example", 0, 3)
		w.expectLinks("https://f.example/", "https://z.example/")
		w.answers(func(*fakeSession) error { return errors.New("no network") })
		for n := range 2 {
			w.session(n).end <- errors.New("gone")
		}
		advert()
		w.sleepTo(100 * time.Second)
		w.answers(nil)
		w.sleepTo(140 * time.Second) // a sweep is at 120 s
		w.expectLinks("https://f.example/", "https://z.example/")
		w.sleepTo(200 * time.Second)
		w.expectLinks("https://z.example/")
	})
}

// While a session is replaced the names that it brought stay announced.
func TestHandOverKeepsNames(t *testing.T) {
	inMesh(t, func(m *mesh) {
		source := m.start(9)
		n := m.start(1, 9)
		m.await(5*time.Second, "1>9")
		source.origin.Publish("demo/cam", moq.NewBroadcast(source.origin.Cache(), nil))
		time.Sleep(time.Second)
		w := n.origin.Watch("demo", moq.Reader{})
		defer w.Close()
		if ev, ok := w.Next(); !ok || ev.Change != moq.Started {
			t.Fatalf("before: %+v, %v", ev, ok)
		}
		if err := n.cluster.SetStatic([]peers.Entry{entry(t, nodeURL(9)+"?v=2")}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		m.await(0, "1>9")
		if got := n.cluster.Links()[0]; got.Attempts != 2 || time.Since(got.Since) < time.Minute {
			t.Errorf("%d attempts, connected for %v; want a second session and no gap", got.Attempts, time.Since(got.Since))
		}
		if inbound := source.cluster.Links(); len(inbound) != 1 {
			t.Errorf("the other side has %d links, want the new one", len(inbound))
		}
		for ev, ok := w.Next(); ok; ev, ok = w.Next() {
			if ev.Change != moq.Updated {
				t.Errorf("during the change: %+v", ev)
			}
		}
		if paths := n.origin.Paths("demo", moq.Reader{}); len(paths) != 1 {
			t.Errorf("announced: %v", paths)
		}
	})
}

// An explicit peer is dialled whatever the order (A06, A08), and stays though gossip withdraws it.
func TestExplicitPeerStays(t *testing.T) {
	inMesh(t, func(m *mesh) {
		one := m.start(1)
		two := m.start(2, 1)
		m.await(5*time.Second, "2>1")
		one.stop()
		m.nodes = m.nodes[1:]
		time.Sleep(5 * time.Minute)
		if links := two.cluster.Links(); len(links) != 1 || links[0].Attempts < 20 {
			t.Errorf("links %+v, want the one that is listed, tried again and again", links)
		}
		m.start(1)
		m.await(25*time.Second, "2>1")
	})
}

// TestTwinsAnnounceThemselves is report A12 where the two meet only at a third.
func TestTwinsAnnounceThemselves(t *testing.T) {
	run(t, Config{Node: "https://third.example", Mesh: true}, func(t *testing.T, w *world) {
		for n, name := range []string{"one", "two", "two"} {
			w.hear("https:/"+name+".example", 0, 7, uint64(20+n))
			synctest.Wait()
		}
		w.expectSaid(1, "level=ERROR", "two cluster peers share one hop id", "https://one.example/", "https://two.example/", "hop_id=7")
	})
}

// Only adverts that name somebody are followed.
func TestBadAdvertsAreIgnored(t *testing.T) {
	cfg := static(t, "https://a.example/")
	cfg.Node, cfg.Mesh = "https://b.example/", true
	run(t, cfg, func(t *testing.T, w *world) {
		w.hear("https:/d.example/?jwt=s3cret", 0, 3)
		w.hear("ftp:/e.example", 0, 3)
		w.hear("https:/b.example/?cost=4", 0, 3)
		w.hear("https:/a-smaller.example", 0, 3)
		if w.dials() != 1 {
			t.Errorf("%d dials, want the static peer's", w.dials())
		}
		w.expectSaid(1, "invalid gossiped cluster peer URL; ignoring update")
		w.expectSaid(0, "s3cret")
		if got := w.count.AdvertsInvalid.Load(); got != 2 {
			t.Errorf("%d bad adverts counted, want 2", got)
		}
		w.hear("https:/f.example/?cost=7", 0, 3)
		if got := w.request(1); got.URL != "https://f.example/" || got.LinkCost != lite.Some(7) {
			t.Errorf("dialled %s at %+v", got.URL, got.LinkCost)
		}
		w.hear("https:/f.example/?cost=8&v=1", 0, 3)
		w.expectSaid(1, "cluster peer advertisement changed; redialing")
		if got := w.request(2); got.URL != "https://f.example/?v=1" {
			t.Errorf("dialled %s", got.URL)
		}
	})
}
