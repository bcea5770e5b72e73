package relay

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
	"github.com/moqmesh/moqmesh/relay/conf"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// testConfig serves everything to everybody on free loopback ports.
func testConfig() conf.Relay {
	c := conf.Default()
	c.Listen.Bind = "127.0.0.1:0"
	c.Listen.TLS.Generate = []string{"localhost"}
	c.Web.HTTP.Listen = "127.0.0.1:0"
	c.Internal.Listen = "127.0.0.1:0"
	c.Auth.Public = conf.Rules{"**"}
	c.DrainTimeout = 0
	return c
}

// edit changes a test's configuration before the start.
type edit = func(*conf.Relay)

func withVersions(vs ...lite.Version) edit {
	return func(c *conf.Relay) {
		for _, v := range vs {
			c.Listen.Version = append(c.Listen.Version, conf.Version(v.String()))
		}
	}
}

func withTimeout(d time.Duration) edit { return func(c *conf.Relay) { c.Listen.Timeout = d } }

// node is a relay that runs for the length of a test.
type node struct {
	*Relay
	log *logBuffer

	drain, kill context.CancelFunc
	over        chan struct{} // closed when Run has returned
	err         error         // Run's; valid once over is closed
}

// start runs a relay.
func start(t *testing.T, edits ...edit) *node {
	t.Helper()
	cfg := testConfig()
	for _, e := range edits {
		e(&cfg)
	}
	n := &node{log: new(logBuffer), over: make(chan struct{})}
	log := slog.New(slog.NewTextHandler(n.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	r, err := New(cfg, Options{Log: log})
	if err == nil {
		err = r.Listen(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	n.Relay = r
	ctx, drain := context.WithCancel(context.Background())
	kill, killNow := context.WithCancel(context.Background())
	n.drain, n.kill = drain, killNow
	go func() {
		defer close(n.over)
		n.err = r.Run(ctx, kill)
	}()
	t.Cleanup(func() {
		drain()
		killNow()
		<-n.over
		if n.err != nil {
			t.Errorf("relay ended with %v", n.err)
		}
	})
	return n
}

// url is an address of the relay: moqt and https lead to the UDP port, http and
// ws to the plain one, internal to the operator's.
func (n *node) url(scheme, path string) string {
	kind := "quic"
	switch scheme {
	case "ws", "http":
		kind = "http"
	case "internal":
		kind, scheme = "internal", "http"
	}
	return scheme + "://" + n.Addrs()[kind].String() + path
}

// logBuffer keeps what was logged.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// bounded ends with the test, or when its patience does.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errors.New("test waited in vain"))
	t.Cleanup(cancel)
	return ctx
}

// eventually asks until ok, for things that only polling shows.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// get reads a page of the relay.
func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	res, err := webClient.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// webClient keeps no connection, so that none outlives its test.
var webClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// party is a client's side of a session, running.
type party struct {
	*client.Client
	*moq.Origin
	stop context.CancelFunc
	gone chan struct{} // closed when the session has ended
	why  error         // valid once gone is closed
}

// dial opens a session and runs it for the length of the test.
func dial(t *testing.T, url string, edits ...func(*client.Config)) *party {
	t.Helper()
	p, err := tryDial(t, url, edits...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func tryDial(t *testing.T, url string, edits ...func(*client.Config)) (*party, error) {
	t.Helper()
	p := &party{Origin: moq.NewOrigin(session.RandomID(), moq.NewCache(0)), gone: make(chan struct{})}
	cfg := client.Config{
		Dial:   transport.DialConfig{TLS: &tls.Config{InsecureSkipVerify: true}, WebSocketDelay: -1},
		Origin: p.Origin,
	}
	for _, e := range edits {
		e(&cfg)
	}
	var err error
	if p.Client, err = client.Dial(bounded(t), url, cfg); err != nil {
		return nil, err
	}
	var ctx context.Context
	ctx, p.stop = context.WithCancel(context.Background())
	go func() {
		defer close(p.gone)
		p.why = p.Run(ctx)
	}()
	t.Cleanup(func() { p.stop(); <-p.gone })
	return p, nil
}

func as(role lite.Role) func(*client.Config) { return func(c *client.Config) { c.Role = role } }

func speaking(vs ...lite.Version) func(*client.Config) {
	return func(c *client.Config) { c.Versions = vs }
}

// leave ends the session and waits for it.
func (p *party) leave() {
	p.stop()
	<-p.gone
}

// closedWith waits for the relay to close the session, and returns its code.
func (p *party) closedWith(t *testing.T) *session.CloseError {
	t.Helper()
	select {
	case <-p.gone:
	case <-bounded(t).Done():
		t.Fatal("the relay never closed the session")
	}
	var closed *session.CloseError
	if !errors.As(p.why, &closed) || !closed.Remote {
		t.Fatalf("session ended with %v, want a close code of the relay", p.why)
	}
	return closed
}

// publish announces a broadcast with one track.
func (p *party) publish(t *testing.T, path, track string) *moq.TrackWriter {
	t.Helper()
	b := moq.NewBroadcast(p.Cache(), nil)
	w, err := b.Create(track, moq.TrackInfo{Priority: 1, MaxAge: 10 * time.Second, Timescale: 1000})
	if err != nil {
		t.Fatal(err)
	}
	p.Publish(path, b)
	return w
}

// write publishes a group of whole frames, a millisecond apart.
func write(t *testing.T, w *moq.TrackWriter, sequence uint64, payloads ...string) {
	t.Helper()
	var frames []moq.Frame
	for i, p := range payloads {
		frames = append(frames, moq.Frame{Timestamp: 100*sequence + uint64(i), Payload: []byte(p)})
	}
	if err := w.WriteGroup(sequence, frames...); err != nil {
		t.Fatal(err)
	}
}

// await waits until the relay announces exactly path.
func (p *party) await(t *testing.T, path string) *moq.Broadcast {
	t.Helper()
	w := p.Watch("", moq.Reader{Hidden: true})
	defer w.Close()
	for {
		ev, err := w.Wait(bounded(t))
		if err != nil {
			t.Fatalf("%s was not announced: %v", path, err)
		}
		if ev.Path == path && ev.Change != moq.Ended {
			return ev.Broadcast
		}
	}
}

// view waits for a broadcast and subscribes to a track of it.
func (p *party) view(t *testing.T, path, track string) *moq.Subscription {
	t.Helper()
	return subscribe(t, p.await(t, path), track)
}

func subscribe(t *testing.T, b *moq.Broadcast, track string) *moq.Subscription {
	t.Helper()
	s, err := b.Subscribe(moq.TrackKey{Name: track}, moq.SubscribeOptions{MaxAge: 10 * time.Second}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// expect reads the next group whole.
func expect(t *testing.T, s *moq.Subscription, sequence uint64, payloads ...string) {
	t.Helper()
	got, read, err := readGroup(bounded(t), s)
	if err != nil {
		t.Fatalf("group %d: %v", sequence, err)
	}
	if got != sequence || !slices.Equal(read, payloads) {
		t.Fatalf("got group %d with %q, want %d with %q", got, read, sequence, payloads)
	}
}

// reach reads on to a group; earlier ones may come first, from a cache.
func reach(t *testing.T, s *moq.Subscription, sequence uint64, payloads ...string) {
	t.Helper()
	for {
		got, read, err := readGroup(bounded(t), s)
		switch {
		case err != nil:
			t.Fatalf("group %d: %v", sequence, err)
		case got > sequence || got == sequence && !slices.Equal(read, payloads):
			t.Fatalf("got group %d with %q, want %d with %q", got, read, sequence, payloads)
		case got == sequence:
			return
		}
	}
}

func readGroup(ctx context.Context, s *moq.Subscription) (sequence uint64, payloads []string, err error) {
	g, ok, err := s.NextGroup(ctx)
	if err != nil || !ok {
		return 0, nil, fmt.Errorf("next group (there is one: %v): %w", ok, err)
	}
	for {
		f, ok, err := g.ReadFrame(ctx)
		if err != nil || !ok {
			return g.Sequence(), payloads, err
		}
		payloads = append(payloads, string(f.Payload))
	}
}

// metric reads one series from /metrics, labels as written there.
func (n *node) metric(t *testing.T, series string) string {
	t.Helper()
	_, body := get(t, n.url("internal", "/metrics"))
	for line := range strings.Lines(body) {
		if v, ok := strings.CutPrefix(line, series+" "); ok {
			return strings.TrimSpace(v)
		}
	}
	t.Fatalf("/metrics has no %s", series)
	return ""
}

// cancelled is a context that has ended.
func cancelled(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
