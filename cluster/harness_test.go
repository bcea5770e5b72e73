package cluster

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/cluster/route"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ownID = 1000

// fakeSession is a session that does what the test says.
type fakeSession struct {
	url   string
	began time.Time
	setup lite.Setup
	mute  bool // never says what it is
	say   func(uri string)

	mu     sync.Mutex
	busy   bool
	prices []lite.Optional
	stats  session.Stats
	end    chan error
	closed time.Time
	reason error // why it ended
}

func (s *fakeSession) Run(ctx context.Context) error {
	var err error
	select {
	case err = <-s.end:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.reason = time.Now(), err
	return err
}

func (s *fakeSession) PeerSetup(ctx context.Context) (lite.Setup, error) {
	if s.mute {
		<-ctx.Done()
		return lite.Setup{}, context.Cause(ctx)
	}
	return s.setup, nil
}

func (s *fakeSession) SetLinkCost(p lite.Optional) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prices = append(s.prices, p)
}

func (s *fakeSession) Goaway(context.Context, string) error { return nil }

func (s *fakeSession) Idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.busy
}

func (s *fakeSession) Stats() session.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// price is the last one that was set; absent if none was.
func (s *fakeSession) price() lite.Optional {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.prices) == 0 {
		return lite.Optional{}
	}
	return s.prices[len(s.prices)-1]
}

// open says whether the session has not ended.
func (s *fakeSession) open() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed.IsZero()
}

// world is what a cluster under test dials into.
type world struct {
	t       *testing.T
	start   time.Time
	cluster *Cluster
	origin  *moq.Origin
	count   Counters

	mu       sync.Mutex
	log      bytes.Buffer
	requests []Request
	times    []time.Duration // of the requests, since start
	sessions []*fakeSession
	answer   func(*fakeSession) error // makes a session what it is, or refuses it; nil = all is well
}

// Write takes a line of the log.
func (w *world) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

// dial is the cluster's Dial.
func (w *world) dial(ctx context.Context, r Request) (Dialled, error) {
	s := &fakeSession{url: r.URL, began: time.Now(), say: r.OnGoaway, end: make(chan error, 1)}
	w.mu.Lock()
	w.requests, w.times = append(w.requests, r), append(w.times, time.Since(w.start))
	answer := w.answer
	w.mu.Unlock()
	if answer != nil {
		if err := answer(s); err != nil {
			return Dialled{}, err
		}
	}
	if ctx.Err() != nil {
		return Dialled{}, context.Cause(ctx)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sessions = append(w.sessions, s)
	return Dialled{Session: s, Conn: uint64(len(w.sessions)), Proto: "moq-lite-06"}, nil
}

func (w *world) answers(f func(*fakeSession) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = f
}

// session is the n-th that was made, from 0.
func (w *world) session(n int) *fakeSession {
	w.t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if n >= len(w.sessions) {
		w.t.Fatalf("%d sessions, want at least %d", len(w.sessions), n+1)
	}
	return w.sessions[n]
}

func (w *world) dials() int {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.requests)
}

func (w *world) request(n int) Request {
	w.t.Helper()
	if w.dials() <= n {
		w.t.Fatalf("%d dials, want at least %d", w.dials(), n+1)
	}
	return w.requests[n]
}

// said is how many log lines hold all of the words.
func (w *world) said(words ...string) (n int) {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
lines:
	for line := range strings.Lines(w.log.String()) {
		for _, word := range words {
			if !strings.Contains(line, word) {
				continue lines
			}
		}
		n++
	}
	return n
}

func (w *world) expectSaid(n int, words ...string) {
	w.t.Helper()
	if got := w.said(words...); got != n {
		w.t.Errorf("%d lines with %q, want %d, in\n%s", got, words, n, w.log.String())
	}
}

// link is the only link's status.
func (w *world) link() LinkStatus {
	w.t.Helper()
	synctest.Wait()
	links := w.cluster.Links()
	if len(links) != 1 {
		w.t.Fatalf("links %+v, want one", links)
	}
	return links[0]
}

func (w *world) expectState(want State) {
	w.t.Helper()
	if got := w.link().State; got != want {
		w.t.Errorf("state %s, want %s", got, want)
	}
}

// entry parses a peer.
func entry(t *testing.T, s string) peers.Entry {
	t.Helper()
	e, _, err := peers.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// run runs a test with a cluster in a bubble: nothing of it may be left behind. Waits are always the longest.
func run(t *testing.T, cfg Config, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, start: time.Now(), origin: moq.NewOrigin(ownID, moq.NewCache(0))}
		cfg.Origin, cfg.Counters, cfg.Log = w.origin, &w.count, slog.New(slog.NewTextHandler(w, nil))
		if cfg.Dial == nil {
			cfg.Dial = w.dial
		}
		cfg.random = func() float64 { return 1 }
		var err error
		if w.cluster, err = New(cfg); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.cluster.Run(ctx) }()
		synctest.Wait()
		test(t, w)
		over := errors.New("over")
		cancel(over)
		if err := <-done; err != over {
			t.Errorf("Run = %v, want the cause of its context", err)
		}
		for _, s := range w.sessions {
			if s.open() {
				t.Errorf("session with %s is left open", s.url)
			}
		}
	})
}

// static is a configuration with peers of the configuration file.
func static(t *testing.T, urls ...string) Config {
	t.Helper()
	var cfg Config
	for _, u := range urls {
		cfg.Static = append(cfg.Static, entry(t, u))
	}
	return cfg
}

// replace gives the cluster another static list, as a reload does.
func (w *world) replace(urls ...string) {
	w.t.Helper()
	if err := w.cluster.SetStatic(static(w.t, urls...).Static); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

// nobody supplies the tracks of an advert: it has none.
type nobody struct{}

func (nobody) Open(w *moq.TrackWriter) { w.Abort(moq.ErrNotFound) }

func (nobody) Fetch(moq.TrackKey, *moq.GroupWriter, uint64, uint8) func() { return nil }

// hear has a peer announce a relay over a link of that price, the last of hops being its own, until withdraw.
func (w *world) hear(node string, cost uint64, hops ...uint64) (withdraw func()) {
	now := time.Now()
	n := w.origin.Join(now, route.Link{ID: hops[len(hops)-1], Own: route.PriceOf(cost), Trusted: true, Stamp: 1})
	n.Announce(now, peers.Prefix+"/"+node, nobody{}, route.Route{Hops: hops})
	return func() { n.Withdraw(time.Now(), peers.Prefix+"/"+node) }
}
