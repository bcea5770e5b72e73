package session_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// TestGaugesReturnToZero: however a subscription ends, what was opened is closed
// (A23).
func TestGaugesReturnToZero(t *testing.T) {
	for name, end := range map[string]func(m *mesh, w *moq.TrackWriter, s *moq.Subscription){
		"viewer leaves":       func(_ *mesh, _ *moq.TrackWriter, s *moq.Subscription) { s.Close() },
		"viewer is lost":      func(m *mesh, _ *moq.TrackWriter, _ *moq.Subscription) { m.down.conn.Close(session.CodeInternal, "") },
		"publisher is lost":   func(m *mesh, _ *moq.TrackWriter, _ *moq.Subscription) { m.up.conn.Close(session.CodeInternal, "") },
		"track ends":          func(_ *mesh, w *moq.TrackWriter, _ *moq.Subscription) { w.Finish() },
		"track is aborted":    func(_ *mesh, w *moq.TrackWriter, _ *moq.Subscription) { w.Abort(moq.ErrNotFound) },
		"broadcast is closed": func(m *mesh, _ *moq.TrackWriter, _ *moq.Subscription) { m.b.Close(moq.ErrClosed) },
	} {
		t.Run(name, func(t *testing.T) {
			eachVersion(t, lite.V01, func(t *testing.T, v lite.Version) {
				m := newMesh(t, v)
				w := m.create(t)
				s := m.viewer.subscribe(t, moq.SubscribeOptions{MaxAge: time.Second})
				write(t, w, 0, "x")
				in, out := &m.relay.counters.Ingress, &m.relay.counters.Egress
				if in.SubscriptionsOpened.Load() != 1 || out.SubscriptionsOpened.Load() != 1 {
					t.Fatalf("opened %d upstream, %d downstream, want 1 each", in.SubscriptionsOpened.Load(), out.SubscriptionsOpened.Load())
				}
				end(m, w, s)
				time.Sleep(10 * time.Second)
				if in.SubscriptionsClosed.Load() != 1 || out.SubscriptionsClosed.Load() != 1 {
					t.Errorf("closed %d upstream, %d downstream, want 1 each", in.SubscriptionsClosed.Load(), out.SubscriptionsClosed.Load())
				}
			})
		})
	}
}

// TestFinishDelivers is scenario H10: what ended tracks owe is delivered before the
// close, and a live track does not hold it up for longer than asked.
func TestFinishDelivers(t *testing.T) {
	eachVersion(t, lite.V01, func(t *testing.T, v lite.Version) {
		m := newMesh(t, v)
		w := m.create(t)
		s := m.viewer.subscribe(t, moq.SubscribeOptions{MaxAge: time.Minute})
		write(t, w, 0, "first")
		groups(t, s)
		var want []string
		for n := uint64(1); n <= 20; n++ {
			if err := w.WriteGroup(n, moq.Frame{Timestamp: n, Payload: fmt.Appendf(nil, "%02d", n)}); err != nil {
				t.Fatal(err)
			}
			want = append(want, fmt.Sprintf("%02d", n))
		}
		w.Finish()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		m.up.Finish(ctx)
		most := 100 * time.Millisecond
		if v < lite.V05 {
			most += 100 * time.Millisecond // the peer cannot know that it has all
		}
		if took := time.Since(start); took > most {
			t.Errorf("closing took %v, want at most %v", took, most)
		}
		synctest.Wait()
		time.Sleep(3 * time.Second)
		if diff := cmp.Diff(want, sorted(groups(t, s))); diff != "" {
			t.Errorf("groups (-want +got):\n%s", diff)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		m := newMesh(t, lite.V06)
		m.create(t)
		m.viewer.subscribe(t, moq.SubscribeOptions{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		m.up.Finish(ctx)
		if took := time.Since(start); took != time.Second {
			t.Errorf("closing under a live track took %v, want the second that was asked", took)
		}
	})
}

// TestStalledReaderLeaves is scenario H14: what a viewer that stalled had waiting is
// let go when it leaves, and it can come back.
func TestStalledReaderLeaves(t *testing.T) {
	eachVersion(t, lite.V03, func(t *testing.T, v lite.Version) {
		relay := newSide(3)
		w := relay.local(t, "v")
		peer, _ := serveRaw(t, v, relay)
		peer.peer.window = 100
		q := request(v, lite.StreamSubscribe, lite.Subscribe{Broadcast: camera, Track: "v", Preferences: lite.Preferences{MaxAge: time.Minute}})
		s := ask(t, peer, q)
		synctest.Wait()
		peer.peer.opened = nil
		for n := range uint64(10) {
			write(t, w, n, string(make([]byte, 5000)))
		}
		s.Close()
		synctest.Wait()
		for i, stream := range peer.peer.opened {
			if stream.reset == nil {
				t.Errorf("group stream %d is not given up", i)
			}
		}
		if d, _ := w.Demand(); d.Subscribers != 0 {
			t.Errorf("%d subscribers left", d.Subscribers)
		}
		peer.peer.change(func() { peer.peer.window, peer.uni = fakeWindow, nil })
		q = request(v, lite.StreamSubscribe, lite.Subscribe{ID: 1, Broadcast: camera, Track: "v"})
		ask(t, peer, q)
		synctest.Wait()
		if len(peer.uni) != 1 {
			t.Errorf("%d groups after the return, want the newest", len(peer.uni))
		}
	})
}
