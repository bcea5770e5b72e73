package relay

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
	"github.com/moqmesh/moqmesh/relay/conf"
)

// upstreams is how many subscriptions the relay has begun and ended at publishers.
func (n *node) upstreams() (begun, ended uint64) {
	in := &n.tiers.counters("").Ingress
	ended = in.SubscriptionsClosed.Load()
	return in.SubscriptionsOpened.Load(), ended
}

// A16: a viewer that reloads is served on, however its sessions overlap.
func TestA16ViewerReloads(t *testing.T) {
	for _, scheme := range allTransports {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			n := start(t)
			w := dial(t, n.url("moqt", "/")).publish(t, "x", "video")
			write(t, w, 0, "before")
			first := dial(t, n.url(scheme, "/"))
			expect(t, first.view(t, "x", "video"), 0, "before")
			first.leave()
			again := dial(t, n.url(scheme, "/")).view(t, "x", "video")
			expect(t, again, 0, "before")
			n.settled(t, 2) // the first is gone, with all that it held
			for i := uint64(1); i < 20; i++ {
				write(t, w, i, "after")
				expect(t, again, i, "after")
			}
		})
	}
}

// A18: the upstream subscription is there exactly while somebody views.
func TestA18UpstreamFollowsTheViewers(t *testing.T) {
	n := start(t)
	w := dial(t, n.url("moqt", "/")).publish(t, "x", "video")
	viewer := dial(t, n.url("moqt", "/"))
	b := viewer.await(t, "x")
	for i := range uint64(100) {
		write(t, w, i, "frame")
		s, err := b.Subscribe(moq.TrackKey{Name: "video"}, moq.SubscribeOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		reach(t, s, i, "frame")
		s.Close()
		eventually(t, "upstream released", func() bool {
			begun, ended := n.upstreams()
			return begun == i+1 && ended == i+1
		})
	}
	eventually(t, "the publisher told", func() bool { d, _ := w.Demand(); return d.Subscribers == 0 })
}

// A22: viewers that come and go at once share one upstream subscription while
// anybody is there, and leave none behind.
func TestA22Churn(t *testing.T) {
	for _, anchored := range []bool{true, false} {
		t.Run(fmt.Sprintf("anchored=%v", anchored), func(t *testing.T) {
			n := start(t)
			w := dial(t, n.url("moqt", "/")).publish(t, "x", "video")
			write(t, w, 0, "frame")
			if anchored {
				expect(t, dial(t, n.url("moqt", "/")).view(t, "x", "video"), 0, "frame")
			}
			churn(t, n)
			begun, ended := n.upstreams()
			if anchored && (begun != 1 || ended != 0) {
				t.Errorf("%d upstream subscriptions begun, %d ended, want one that stays", begun, ended)
			}
			if !anchored {
				eventually(t, "every upstream released", func() bool { begun, ended := n.upstreams(); return begun == ended })
			}
		})
	}
}

// churn has 40 sessions subscribe and leave 5 times each.
func churn(t *testing.T, n *node) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range 40 {
		b := dial(t, n.url(allTransports[i%len(allTransports)], "/")).await(t, "x")
		wg.Go(func() {
			for range 5 {
				if err := glance(bounded(t), b); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// glance reads the newest group and leaves.
func glance(ctx context.Context, b *moq.Broadcast) error {
	s, err := b.Subscribe(moq.TrackKey{Name: "video"}, moq.SubscribeOptions{}, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	_, payloads, err := readGroup(ctx, s)
	if err == nil && len(payloads) != 1 {
		err = fmt.Errorf("read %q, want one frame", payloads)
	}
	return err
}

// A25: a catalog, written once, is there for whoever joins however late.
func TestA25CatalogForLateViewers(t *testing.T) {
	n := start(t)
	w := dial(t, n.url("moqt", "/")).publish(t, "x", "catalog.json")
	write(t, w, 0, "{", "}")
	expect(t, dial(t, n.url("moqt", "/")).view(t, "x", "catalog.json"), 0, "{", "}")
	n.cache.Advance(time.Now().Add(time.Hour))
	for _, scheme := range allTransports {
		expect(t, dial(t, n.url(scheme, "/")).view(t, "x", "catalog.json"), 0, "{", "}")
	}
	if begun, _ := n.upstreams(); begun != 1 {
		t.Errorf("%d upstream subscriptions, want 1", begun)
	}
}

// A26: a viewer that stops reading loses groups, and costs others nothing.
func TestA26SlowViewer(t *testing.T) {
	for _, scheme := range allTransports {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			n := start(t, func(c *conf.Relay) { c.Limits.QueuePerSession = 64 << 10 })
			w := dial(t, n.url("moqt", "/")).publish(t, "x", "video")
			write(t, w, 0, "first")
			eventually(t, "announced", func() bool { return n.origin.Len() == 1 })
			slow := dialWire(t, n, scheme, lite.V06)
			if err := slow.subscribes(t, "x", "video"); err != nil {
				t.Fatal(err)
			}
			var healthy []*moq.Subscription
			for range 3 {
				s := dial(t, n.url("moqt", "/")).view(t, "x", "video")
				expect(t, s, 0, "first")
				healthy = append(healthy, s)
			}
			big := strings.Repeat("x", 50_000)
			lost := func() uint64 {
				c := n.tiers.counters("")
				return c.GroupsReset.Load() + c.GroupsSkipped.Load()
			}
			newest := uint64(0)
			for newest < 50 || lost() == 0 && newest < 1000 {
				newest++
				write(t, w, newest, big)
				for _, s := range healthy {
					expect(t, s, newest, big)
				}
			}
			if lost() == 0 {
				t.Fatalf("nothing was given up for a viewer that reads nothing of %d groups", newest)
			}
			if err := context.Cause(slow.Context()); err != nil {
				t.Fatalf("the slow viewer lost its session: %v", err)
			}
			slow.catchUp(t, newest)
		})
	}
}

// catchUp reads groups until one is whole and as new as can be.
func (p wirePeer) catchUp(t *testing.T, newest uint64) {
	t.Helper()
	caught := make(chan struct{})
	var once sync.Once
	ctx, cancel := context.WithCancel(bounded(t))
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		for {
			s, err := p.AcceptUniStream(ctx)
			if err != nil {
				return
			}
			wg.Go(func() {
				defer context.AfterFunc(ctx, func() { s.Stop(session.StreamCancelled) })()
				if sequence, ok := readGroupStream(s, p.v); ok && sequence == newest {
					once.Do(func() { close(caught) })
				}
			})
		}
	})
	select {
	case <-caught:
	case <-ctx.Done():
		t.Error("the slow viewer never gets the newest group")
	}
	cancel()
}

// readGroupStream reads a stream to its end; ok: it was a whole group.
func readGroupStream(s session.ReceiveStream, v lite.Version) (sequence uint64, ok bool) {
	r := bufio.NewReader(s)
	kind, err := v.Encoding().ReadVarint(r)
	if err != nil || lite.UniStream(kind) != lite.StreamGroup {
		return 0, false
	}
	body, err := lite.ReadBody(r, v, nil)
	if err != nil {
		return 0, false
	}
	h, err := lite.DecodeGroupHeader(body, v)
	if err != nil {
		return 0, false
	}
	_, err = io.Copy(io.Discard, r)
	return h.Sequence, err == nil
}

// severed is a client's socket whose packets can be lost from some moment on.
type severed struct {
	net.PacketConn
	cut atomic.Bool
}

func (s *severed) WriteTo(p []byte, addr net.Addr) (int, error) {
	if s.cut.Load() {
		return len(p), nil
	}
	return s.PacketConn.WriteTo(p, addr)
}

// through dials over sockets that cut severs.
func through(s *severed) func(*client.Config) {
	return func(c *client.Config) {
		c.Dial.Listen = func(network string) (net.PacketConn, error) {
			pc, err := net.ListenPacket(network, "127.0.0.1:0")
			s.PacketConn = pc
			return s, err
		}
	}
}

// A14: a publisher vanishes without a word and another takes its name over while
// the first still counts as there. Viewers move at once, and what hung on the
// first ends with it.
func TestA14PublisherVanishesAndReturns(t *testing.T) {
	t.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true") // of the socket in between
	n := start(t, func(c *conf.Relay) { c.QUIC.IdleTimeout = time.Second })
	line := new(severed)
	old := dial(t, n.url("moqt", "/"), through(line)).publish(t, "x", "video")
	write(t, old, 0, "old")
	viewer := dial(t, n.url("moqt", "/"))
	watcher := viewer.Watch("", moq.Reader{})
	defer watcher.Close()
	zombie := subscribe(t, nextEvent(t, watcher).Broadcast, "video")
	expect(t, zombie, 0, "old")
	line.cut.Store(true)

	fresh := dial(t, n.url("moqt", "/")).publish(t, "x", "video")
	write(t, fresh, 0, "new")
	var moved *moq.Broadcast
	for moved == nil {
		if ev := nextEvent(t, watcher); ev.Change == moq.Started || ev.Change == moq.Replaced {
			moved = ev.Broadcast
		}
	}
	s := subscribe(t, moved, "video")
	expect(t, s, 0, "new")
	if _, ok, err := zombie.NextGroup(bounded(t)); ok || err == nil {
		t.Errorf("a subscription to the vanished publisher: %v, %v, want an error", ok, err)
	}
	write(t, fresh, 1, "newer")
	expect(t, s, 1, "newer")
}

func nextEvent(t *testing.T, w *moq.Watcher) moq.Event {
	t.Helper()
	ev, err := w.Wait(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

// A publisher that comes back under its own identity is found again, from group 0.
func TestPublisherReconnects(t *testing.T) {
	n := start(t)
	own := func(p *party) func(*client.Config) { return func(c *client.Config) { c.Origin = p.Origin } }
	viewer := dial(t, n.url("https", "/"))
	first := dial(t, n.url("moqt", "/"))
	w := first.publish(t, "x", "video")
	write(t, w, 5, "before")
	s := viewer.view(t, "x", "video")
	expect(t, s, 5, "before")
	first.leave()
	if _, ok, err := s.NextGroup(bounded(t)); ok || err == nil {
		t.Errorf("after the publisher left: %v, %v, want an error", ok, err)
	}
	eventually(t, "withdrawn", func() bool { return len(viewer.Paths("", moq.Reader{})) == 0 })
	dial(t, n.url("moqt", "/"), own(first))
	write(t, w, 6, "after")
	reach(t, viewer.view(t, "x", "video"), 6, "after")
}

// Of two publishers of one name the newer serves; when it leaves the older does.
func TestTwoPublishersOfOneName(t *testing.T) {
	n := start(t)
	older := dial(t, n.url("moqt", "/")).publish(t, "x", "video")
	write(t, older, 0, "older")
	eventually(t, "announced", func() bool { return n.origin.Len() == 1 })
	second := dial(t, n.url("moqt", "/"))
	newer := second.publish(t, "x", "video")
	write(t, newer, 0, "newer")
	serves := func(want string) {
		t.Helper()
		eventually(t, want+" serves", func() bool {
			_, body := get(t, n.url("http", "/fetch/x/video"))
			return body == want
		})
	}
	serves("newer")
	second.leave()
	serves("older")
	expect(t, dial(t, n.url("ws", "/")).view(t, "x", "video"), 0, "older")
}
