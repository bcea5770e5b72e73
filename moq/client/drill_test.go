package client_test

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/internal/simlink"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// TestStalledReader is scenario H14: what a viewer that stalled had waiting is let
// go when it leaves, the others miss nothing, and it is served when it comes back.
func TestStalledReader(t *testing.T) {
	eachLine(t, lite.V03, func(t *testing.T, r *simRelay, line simlink.Line) {
		w := r.join(t, "moqt", line, lite.RolePublisher).publish(t)
		others := r.join(t, "moqt", line, lite.RoleSubscriber)
		s := read(t, others.find(t), moq.SubscribeOptions{MaxAge: info.MaxAge})
		stalled := r.joinWire(t, line, func(c *transport.DialConfig) {
			c.QUIC = transport.DefaultQUIC()
			c.QUIC.InitialConnectionReceiveWindow, c.QUIC.MaxConnectionReceiveWindow = 64<<10, 64<<10
		})
		first := stalled.subscribe(t, 0)
		time.Sleep(time.Second)
		payload := bytes.Repeat([]byte("x"), 20_000)
		for n := range uint64(20) {
			put(t, w, n, payload)
			if got, p, err := get(within(t, time.Minute), s); err != nil || got != n || !bytes.Equal(p, payload) {
				t.Fatalf("the other viewer has group %d of %d bytes, %v, want group %d", got, len(p), err, n)
			}
		}
		if opened := r.counters.Egress.SubscriptionsOpened.Load(); opened != 2 {
			t.Fatalf("%d subscriptions served, want 2", opened)
		}
		first.Reset(session.StreamCancelled)
		first.Stop(session.StreamCancelled)
		time.Sleep(time.Second)
		if closed := r.counters.Egress.SubscriptionsClosed.Load(); closed != 1 {
			t.Errorf("%d subscriptions ended, want the stalled one", closed)
		}
		again := stalled.subscribe(t, 1)
		if h, size, err := stalled.group(within(t, time.Minute), 1, 19); err != nil || size < len(payload) {
			t.Errorf("back again the viewer gets group %d of %d bytes, %v, want the newest", h.Sequence, size, err)
		}
		again.Close()
		put(t, w, 20, payload)
		if got, _, err := get(within(t, time.Minute), s); err != nil || got != 20 {
			t.Errorf("the other viewer has group %d, %v, want 20", got, err)
		}
	})
}

// TestPublisherCrashes is scenario H15: the name is withdrawn, announced again by
// another publisher, and readers get only what that one sends.
func TestPublisherCrashes(t *testing.T) {
	eachLine(t, lite.V01, func(t *testing.T, r *simRelay, line simlink.Line) {
		first := r.join(t, "moqt", line, lite.RolePublisher)
		put(t, first.publish(t), 5, []byte("old"))
		viewer := r.join(t, "moqt", line, lite.RoleSubscriber)
		s := read(t, viewer.find(t), moq.SubscribeOptions{MaxAge: info.MaxAge})
		if n, p, err := get(within(t, time.Minute), s); err != nil || n != 5 || string(p) != "old" {
			t.Fatalf("group %d %q, %v, want group 5 of the first publisher", n, p, err)
		}
		first.line.Cut()
		viewer.lose(t)
		second := r.join(t, "moqt", line, lite.RolePublisher).publish(t)
		put(t, second, 0, []byte("new"))
		s = read(t, viewer.find(t), moq.SubscribeOptions{MaxAge: info.MaxAge, Start: moq.Start{Kind: moq.StartFresh}})
		for want := range uint64(3) {
			if want > 0 {
				put(t, second, want, []byte("new"))
			}
			if n, p, err := get(within(t, time.Minute), s); err != nil || n != want || string(p) != "new" {
				t.Errorf("group %d %q, %v, want group %d of the second publisher", n, p, err, want)
			}
		}
	})
}

// TestPublisherReturnsUnnoticed is field report A14: the publisher's packets are
// lost and another takes the name while the first still counts as there. Who asks
// from then on gets the new one, long before the old session times out.
func TestPublisherReturnsUnnoticed(t *testing.T) {
	eachLine(t, lite.V03, func(t *testing.T, r *simRelay, line simlink.Line) {
		first := r.join(t, "moqt", line, lite.RolePublisher)
		put(t, first.publish(t), 5, []byte("old"))
		viewer := r.join(t, "moqt", line, lite.RoleSubscriber)
		old := viewer.find(t)
		s := read(t, old, moq.SubscribeOptions{MaxAge: info.MaxAge})
		if _, p, err := get(within(t, time.Minute), s); err != nil || string(p) != "old" {
			t.Fatalf("group %q, %v", p, err)
		}
		first.line.Cut()
		second := r.join(t, "moqt", line, lite.RolePublisher).publish(t)
		put(t, second, 0, []byte("new"))
		time.Sleep(2 * time.Second)
		s = read(t, viewer.find(t), moq.SubscribeOptions{MaxAge: info.MaxAge})
		if n, p, err := get(within(t, 2*time.Second), s); err != nil || n != 0 || string(p) != "new" {
			t.Errorf("group %d %q, %v, want group 0 of the second publisher", n, p, err)
		}
	})
}

// TestNoPublisher is scenario H16, the control of the others: nothing is announced
// and nothing delivered, and a request is refused.
func TestNoPublisher(t *testing.T) {
	eachLine(t, lite.V01, func(t *testing.T, r *simRelay, line simlink.Line) {
		viewer := r.join(t, "moqt", line, lite.RoleSubscriber)
		watcher := viewer.Watch("", moq.Reader{Hidden: true})
		defer watcher.Close()
		peer := session.Conn(nil)
		if r.v >= lite.V03 { // those before begin with a SETUP that joinWire does not say
			p := r.joinWire(t, line, func(*transport.DialConfig) {})
			peer = p.Conn
			answer := p.subscribe(t, 0)
			var reset *session.StreamError
			if _, err := answer.Read(make([]byte, 1)); !errors.As(err, &reset) || reset.Code != session.StreamUnroutable {
				t.Errorf("subscribed to nothing: %v, want unroutable", err)
			}
		}
		if ev, err := watcher.Wait(within(t, time.Minute)); err == nil {
			t.Errorf("told of %+v", ev)
		}
		if _, _, err := viewer.Find(name, moq.Reader{}); !errors.Is(err, moq.ErrUnroutable) {
			t.Errorf("looked up: %v, want unroutable", err)
		}
		if out := &r.counters.Egress; out.Groups.Load() != 0 || out.Bytes.Load() != 0 || out.AnnouncesStarted.Load() != 0 {
			t.Errorf("sent %d groups, %d bytes, %d announcements", out.Groups.Load(), out.Bytes.Load(), out.AnnouncesStarted.Load())
		}
		if peer != nil && peer.Context().Err() != nil {
			t.Error("the refused viewer lost its session")
		}
	})
}

// TestShortLifeOverLossyLink is scenario H10 where packets are lost: a publisher
// that finishes its track and then leaves is heard to its end.
func TestShortLifeOverLossyLink(t *testing.T) {
	for v := lite.V01; v <= lite.V07WIP; v++ {
		t.Run(v.String(), func(t *testing.T) {
			for seed := range uint64(10) {
				synctest.Test(t, func(t *testing.T) {
					r := simulate(t, v, seed, session.Limits{})
					publisher := r.join(t, "moqt", lossy, lite.RolePublisher)
					w := publisher.publish(t)
					viewer := r.join(t, "moqt", clean, lite.RoleSubscriber)
					s := read(t, viewer.find(t), moq.SubscribeOptions{MaxAge: info.MaxAge, Start: moq.Start{Kind: moq.StartFresh}})
					put(t, w, 0, []byte("first"))
					if _, _, err := get(within(t, time.Minute), s); err != nil {
						t.Fatal(err)
					}
					const groups = 20
					for n := uint64(1); n <= groups; n++ {
						put(t, w, n, bytes.Repeat([]byte("x"), 2000))
					}
					w.Finish()
					publisher.Finish(within(t, 10*time.Second))
					got := 0
					for ; got < groups; got++ {
						if _, p, err := get(within(t, 10*time.Second), s); err != nil || len(p) != 2000 {
							t.Errorf("seed %d: after %d of %d groups: %d bytes, %v", seed, got, groups, len(p), err)
							break
						}
					}
					if got < groups {
						return
					}
					if _, ok, err := s.NextGroup(within(t, 10*time.Second)); ok || err != nil {
						t.Errorf("seed %d: the end: %v, %v, want a clean one", seed, ok, err)
					}
				})
			}
		})
	}
}
