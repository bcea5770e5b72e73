package simmesh

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/cluster"
	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/cluster/route"
	"github.com/moqmesh/moqmesh/internal/simlink"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// port is where relays listen.
const listenPort = 4443

// Relay is one relay of a mesh.
type Relay struct {
	m      *Mesh
	name   string
	number int

	// What follows begins anew when the relay is started again.
	id      uint64
	maxHops int
	origin  *moq.Origin
	cluster *cluster.Cluster
	door    *simlink.Host // where it listens; nil while it does not run
	stop    context.CancelFunc
	running *sync.WaitGroup

	mu       sync.Mutex // guards what follows
	ports    int
	sessions []*session.Session // that others dialled
}

// renew forgets all that the relay knows.
func (r *Relay) renew(id uint64) {
	r.id = id
	r.origin = moq.NewRoutedOrigin(route.Config{Self: id, MaxHops: r.maxHops}, moq.NewCache(0))
	r.cluster = nil
}

// Name is that of the links.
func (r *Relay) Name() string { return r.name }

// ID is its hop id.
func (r *Relay) ID() uint64 { return r.id }

// Origin is its name space. It is another one after a restart.
func (r *Relay) Origin() *moq.Origin { return r.origin }

// Bound limits the hop lists that the relay takes and passes on. Only before Mesh.Start.
func (r *Relay) Bound(maxHops int) {
	r.maxHops = maxHops
	r.renew(r.id)
}

func (r *Relay) address(port int) string {
	return fmt.Sprintf("10.0.%d.%d:%d", r.number>>8, r.number&0xff, port)
}

func (r *Relay) url() string { return "moqt://" + r.address(listenPort) + "/" }

// port is one that is free.
func (r *Relay) port() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ports++
	return 10_000 + r.ports
}

// start begins to listen and to dial.
func (r *Relay) start() {
	r.m.t.Helper()
	var err error
	r.cluster, err = cluster.New(cluster.Config{
		Static: r.entries(), Origin: r.origin, Dial: r.dial, Redirect: peers.Follow,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		r.m.t.Fatal(err)
	}
	r.door = r.m.net.Host(r.address(listenPort), simlink.Line{})
	l, err := transport.Listen(r.door, transport.ListenConfig{
		ALPNs: transport.ALPNs([]lite.Version{version}),
		TLS:   &tls.Config{Certificates: []tls.Certificate{r.m.cert}},
	})
	if err != nil {
		r.m.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop, r.running = stop, new(sync.WaitGroup)
	r.running.Go(func() { l.Serve(ctx, r.serve) })
	r.running.Go(func() { r.cluster.Run(ctx) })
	r.running.Go(func() { session.Keep(ctx, r.origin) })
}

// entries are the peers that it dials.
func (r *Relay) entries() (list []peers.Entry) {
	r.m.t.Helper()
	for _, l := range r.m.links {
		if l.from == r {
			e, err := l.entry()
			if err != nil {
				r.m.t.Fatal(err)
			}
			list = append(list, e)
		}
	}
	return list
}

// follow takes over changed settings of links.
func (r *Relay) follow() {
	r.m.t.Helper()
	if err := r.cluster.SetStatic(r.entries()); err != nil {
		r.m.t.Fatal(err)
	}
}

// Stop ends the relay as a signal does: its peers and clients are told.
func (r *Relay) Stop() {
	if r.door == nil {
		return
	}
	r.stop()
	r.running.Wait()
	time.Sleep(2 * r.m.latency) // for the words of farewell
	r.fall()
}

// Crash ends the relay as a loss of power does: nobody is told, and what it had sent last may be lost.
func (r *Relay) Crash() {
	if r.door == nil {
		return
	}
	r.fall()
	r.stop()
}

// fall takes its sockets away.
func (r *Relay) fall() {
	r.door.Cut()
	r.door = nil
	for _, l := range r.m.links {
		if l.from == r {
			l.forsake()
		}
	}
}

// Restart starts the relay again, which has forgotten everything. id is its new hop id; 0 = as before.
func (r *Relay) Restart(id uint64) {
	r.m.t.Helper()
	r.Stop()
	r.running.Wait()
	if id == 0 {
		id = r.id
	}
	r.mu.Lock()
	r.sessions = nil
	r.mu.Unlock()
	r.renew(id)
	r.start()
}

// Drain asks all who dialled the relay to leave, for another one where that is not nil.
func (r *Relay) Drain(to *Relay) {
	uri := ""
	if to != nil {
		uri = to.url()
	}
	r.mu.Lock()
	sessions := slices.Clone(r.sessions)
	r.mu.Unlock()
	for _, s := range sessions {
		if err := s.Goaway(context.Background(), uri); err != nil {
			r.m.t.Error("goaway:", err)
		}
	}
	if to == nil {
		r.cluster.Goaway(context.Background())
	}
}

// Lists says whether the relay serves a path.
func (r *Relay) Lists(path string) bool {
	_, _, err := r.origin.Find(path, moq.Reader{})
	return err == nil
}

// Via is the name of the relay that a path is served from, "" for a client or where nothing serves.
func (r *Relay) Via(path string) string {
	for _, c := range r.origin.Explain(path) {
		if c.State == route.Serving {
			return r.m.named(c.Link.ID)
		}
	}
	return ""
}

// Hops are the relays that a path has passed, by name, this one last. Publishers are left out.
func (r *Relay) Hops(path string) (names []string) {
	for _, c := range r.origin.Explain(path) {
		if c.State != route.Serving {
			continue
		}
		for _, h := range c.Hops {
			if name := r.m.named(h); name != "" {
				names = append(names, name)
			}
		}
		return append(names, r.name)
	}
	return nil
}

func (m *Mesh) named(id uint64) string {
	for _, r := range m.relays {
		if r.id == id {
			return r.name
		}
	}
	return ""
}

// dialled is how many of the links that it dials are up.
func (r *Relay) dialled() (n int) {
	if r.door == nil {
		return 0
	}
	for _, l := range r.cluster.Links() {
		if !l.Inbound && l.HopID != 0 && l.State == cluster.Connected {
			n++
		}
	}
	return n
}

// errNoLink says that a relay was sent to one that it has no link with.
var errNoLink = errors.New("no link there")

// linkTo is the link that a URL is dialled over: that with the relay there, or to which it stands in.
func (r *Relay) linkTo(host string) (*Link, error) {
	var other *Link
	for _, l := range r.m.links {
		if l.from != r {
			continue
		}
		if l.to.address(listenPort) == host {
			return l, nil
		}
		other = l
	}
	if other == nil {
		return nil, errNoLink
	}
	return other, nil
}

// serve takes in a peer or a client.
func (r *Relay) serve(ctx context.Context, in *transport.Incoming) {
	cfg := session.Config{Server: true, Version: version, Setup: lite.Setup{Hop: r.id}, Limits: limits}
	conn := in.Conn
	l := r.m.linkOf(in.Conn.RemoteAddr())
	if l != nil {
		conn, cfg.Counters = l.count(conn, 1), &l.ends[1].Counters
	} else {
		cfg.Counters = &r.m.memberAt(conn.RemoteAddr()).served
	}
	s, err := session.Handshake(ctx, conn, cfg)
	if err != nil {
		return // cut off, or turned away by the other side
	}
	setup, err := s.PeerSetup(ctx)
	if err != nil {
		return
	}
	if l != nil {
		leave, err := r.cluster.Join(cluster.Inbound{Remote: conn.RemoteAddr().String(), Setup: setup, Since: time.Now()})
		if err != nil {
			s.Close(session.CodeUnauthorized, "")
			return
		}
		defer leave()
	}
	r.enter(s)
	defer r.exit(s)
	s.Run(ctx, session.Access{Origin: r.origin, Peer: l != nil})
}

func (r *Relay) enter(s *session.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sessions = append(r.sessions, s)
}

func (r *Relay) exit(s *session.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sessions = slices.DeleteFunc(r.sessions, func(o *session.Session) bool { return o == s })
}
