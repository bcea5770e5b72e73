package client_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/moqmesh/moqmesh/internal/simlink"
	"github.com/moqmesh/moqmesh/internal/testcert"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The lines of the scenarios that say "clean" and "lossy".
var (
	clean = simlink.Line{Delay: 10 * time.Millisecond}
	lossy = simlink.Line{Delay: 20 * time.Millisecond, Loss: 0.05}
)

// eachLine runs a scenario in bubbles of its own, over clean and over lossy lines,
// on every version from the given one on.
func eachLine(t *testing.T, from lite.Version, f func(t *testing.T, r *simRelay, line simlink.Line)) {
	t.Helper()
	for _, l := range []struct {
		name string
		line simlink.Line
	}{{"clean", clean}, {"lossy", lossy}} {
		for v := from; v <= lite.V07WIP; v++ {
			t.Run(fmt.Sprintf("%s/%s", l.name, v), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f(t, simulate(t, v, 1, session.Limits{}), l.line)
				})
			})
		}
	}
}

// simRelay serves one origin on a simulated network.
type simRelay struct {
	net      *simlink.Network
	v        lite.Version
	origin   *moq.Origin
	counters session.Counters
	hosts    int
}

// simulate runs a relay until the test ends. Call it in a bubble, first of all.
// seed decides which packets are lost.
func simulate(t *testing.T, v lite.Version, seed uint64, limits session.Limits) *simRelay {
	t.Helper()
	t.Cleanup(func() { time.Sleep(20 * time.Second) }) // closed connections take their time
	r := &simRelay{net: simlink.New(t, seed), v: v, origin: moq.NewOrigin(7, moq.NewCache(0))}
	l, err := transport.Listen(r.net.Host("10.0.0.1:443", simlink.Line{}), transport.ListenConfig{
		ALPNs: transport.ALPNs([]lite.Version{v}),
		TLS:   &tls.Config{Certificates: []tls.Certificate{testcert.NewCA(t, "ca").Server(t, "localhost").TLS}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Serve(ctx, func(ctx context.Context, in *transport.Incoming) { r.serve(ctx, t, in, limits) })
	}()
	t.Cleanup(func() { cancel(); <-done })
	return r
}

func (r *simRelay) serve(ctx context.Context, t *testing.T, in *transport.Incoming, limits session.Limits) {
	v, _ := transport.VersionOf(in.ALPN)
	s, err := session.Handshake(ctx, in.Conn, session.Config{
		Server: true, Version: v, Legacy: []lite.Version{r.v}, Setup: lite.Setup{Hop: 7},
		Limits: limits, Counters: &r.counters,
	})
	if err != nil {
		t.Error("handshake:", err)
		return
	}
	s.Run(ctx, session.Access{Origin: r.origin})
}

// lost is how many groups were given up for viewers.
func (r *simRelay) lost() uint64 {
	return r.counters.GroupsSkipped.Load() + r.counters.GroupsReset.Load()
}

// member is a client on a line of its own.
type member struct {
	*client.Client
	*moq.Origin
	line *simlink.Host
	gone chan struct{} // closed when the session has ended
}

// dialConfig is how to dial from a new host.
func (r *simRelay) dialConfig(line simlink.Line) (*simlink.Host, transport.DialConfig) {
	r.hosts++
	h := r.net.Host(fmt.Sprintf("10.0.1.%d:1", r.hosts), line)
	return h, transport.DialConfig{
		TLS: &tls.Config{InsecureSkipVerify: true}, WebSocketDelay: -1,
		Listen: func(string) (net.PacketConn, error) { return h, nil },
	}
}

// join brings a client to the relay, over raw QUIC ("moqt") or WebTransport ("https").
func (r *simRelay) join(t *testing.T, scheme string, line simlink.Line, role lite.Role) *member {
	t.Helper()
	m := &member{Origin: moq.NewOrigin(session.RandomID(), moq.NewCache(0)), gone: make(chan struct{})}
	cfg := client.Config{Versions: []lite.Version{r.v}, Origin: m.Origin, Role: role}
	m.line, cfg.Dial = r.dialConfig(line)
	var err error
	if m.Client, err = client.Dial(t.Context(), scheme+"://10.0.0.1/", cfg); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(m.gone)
		m.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-m.gone })
	return m
}

// publish announces a broadcast with the track "v".
func (m *member) publish(t *testing.T) *moq.TrackWriter {
	t.Helper()
	b := moq.NewBroadcast(m.Cache(), nil)
	w, err := b.Create("v", info)
	if err != nil {
		t.Fatal(err)
	}
	m.Publish(name, b)
	return w
}

// find waits until the broadcast is there.
func (m *member) find(t *testing.T) *moq.Broadcast {
	t.Helper()
	w := m.Watch(name, moq.Reader{})
	defer w.Close()
	for {
		ev, err := w.Wait(within(t, time.Minute))
		if err != nil {
			t.Fatalf("%s was not announced: %v", name, err)
		}
		if ev.Change != moq.Ended {
			return ev.Broadcast
		}
	}
}

// lose waits until the broadcast is not there any more.
func (m *member) lose(t *testing.T) {
	t.Helper()
	w := m.Watch(name, moq.Reader{})
	defer w.Close()
	for {
		if _, _, err := m.Find(name, moq.Reader{}); err != nil {
			return
		}
		if _, err := w.Wait(within(t, time.Minute)); err != nil {
			t.Fatalf("%s was not withdrawn: %v", name, err)
		}
	}
}

// within bounds a wait; it costs no time in a bubble.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), d, errors.New("test waited in vain"))
	t.Cleanup(cancel)
	return ctx
}

// put publishes a group of one frame; groups are 100 ms apart.
func put(t *testing.T, w *moq.TrackWriter, sequence uint64, payload []byte) {
	t.Helper()
	if err := w.WriteGroup(sequence, moq.Frame{Timestamp: 100 * sequence, Payload: payload}); err != nil {
		t.Fatal(err)
	}
}

// get waits for the next group and reads it whole.
func get(ctx context.Context, s *moq.Subscription) (sequence uint64, payload []byte, err error) {
	g, ok, err := s.NextGroup(ctx)
	if err != nil || !ok {
		return 0, nil, fmt.Errorf("next group (there is one: %v): %w", ok, err)
	}
	for {
		f, ok, err := g.ReadFrame(ctx)
		if err != nil || !ok {
			return g.Sequence(), payload, err
		}
		payload = append(payload, f.Payload...)
	}
}

// wirePeer is a viewer that reads only what a test wants read.
type wirePeer struct {
	session.Conn
	v lite.Version
}

// joinWire connects without a session behind it. edit tunes the connection.
func (r *simRelay) joinWire(t *testing.T, line simlink.Line, edit func(*transport.DialConfig)) wirePeer {
	t.Helper()
	_, cfg := r.dialConfig(line)
	cfg.ALPNs = []string{r.v.ALPN()}
	edit(&cfg)
	d, err := transport.Dial(t.Context(), "moqt://10.0.0.1/", cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Conn.Close(session.CodeNoError, "") })
	p := wirePeer{d.Conn, r.v}
	if r.v.HasSetup() {
		s, err := p.OpenUniStream()
		if err != nil {
			t.Fatal(err)
		}
		s.Write(lite.Setup{Hop: 99}.Append(lite.StreamSetup.Append(nil, r.v), r.v))
		s.Close()
	}
	return p
}

// subscribe asks for the track and leaves the request open.
func (p wirePeer) subscribe(t *testing.T, id uint64) session.Stream {
	t.Helper()
	s, err := p.OpenStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := lite.Subscribe{ID: id, Broadcast: name, Track: "v", Preferences: lite.Preferences{Priority: 1, MaxAge: info.MaxAge}}
	if _, err := s.Write(m.Append(lite.StreamSubscribe.Append(nil, p.v), p.v)); err != nil {
		t.Fatal(err)
	}
	return s
}

// group reads all streams side by side until one has been a whole group of the
// subscription with at least that sequence.
func (p wirePeer) group(ctx context.Context, id, atLeast uint64) (h lite.GroupHeader, size int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type whole struct {
		lite.GroupHeader
		size int
	}
	got := make(chan whole, 1)
	var reading sync.WaitGroup
	defer reading.Wait()
	reading.Go(func() {
		for {
			s, err := p.AcceptUniStream(ctx)
			if err != nil {
				return
			}
			reading.Go(func() {
				defer context.AfterFunc(ctx, func() { s.Stop(session.StreamCancelled) })()
				if h, n, ok := readGroupStream(s, p.v); ok && h.Subscribe == id && h.Sequence >= atLeast {
					select {
					case got <- whole{h, n}:
					case <-ctx.Done():
					}
				}
			})
		}
	})
	select {
	case g := <-got:
		cancel()
		return g.GroupHeader, g.size, nil
	case <-ctx.Done():
		return h, 0, context.Cause(ctx)
	}
}

// readGroupStream reads a stream to its end; ok: it was a whole group.
func readGroupStream(s session.ReceiveStream, v lite.Version) (h lite.GroupHeader, size int, ok bool) {
	r := bufio.NewReader(s)
	kind, err := v.Encoding().ReadVarint(r)
	if err != nil || lite.UniStream(kind) != lite.StreamGroup {
		return h, 0, false
	}
	body, err := lite.ReadBody(r, v, nil)
	if err != nil {
		return h, 0, false
	}
	if h, err = lite.DecodeGroupHeader(body, v); err != nil {
		return h, 0, false
	}
	n, err := io.Copy(io.Discard, r)
	return h, int(n), err == nil
}
