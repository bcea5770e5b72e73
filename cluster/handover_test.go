package cluster

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

func (s *fakeSession) work(busy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = busy
}

// sleepTo waits for a time since the start of the test.
func (w *world) sleepTo(at time.Duration) {
	time.Sleep(at - time.Since(w.start))
	synctest.Wait()
}

func (w *world) expectOpen(s *fakeSession, want bool) {
	w.t.Helper()
	synctest.Wait()
	if s.open() != want {
		w.t.Errorf("after %v the session with %s is open: %v, want %v", time.Since(w.start), s.url, s.open(), want)
	}
}

// Other settings need another session: it is up before the old one goes, which is the dearest from then on and leaves
// when it has nothing to do.
func TestChangedPeerIsDialledFirst(t *testing.T) {
	run(t, static(t, "https://a.example/?jwt=1"), func(t *testing.T, w *world) {
		old := w.session(0)
		old.work(true)
		w.replace("https://a.example/?jwt=2")
		fresh := w.session(1)
		if fresh.url != "https://a.example/?jwt=2" || !old.open() || old.price() != lite.Some(moq.MaxCost) {
			t.Errorf("dialled %s, old open %v at %+v", fresh.url, old.open(), old.price())
		}
		w.sleepTo(5 * time.Second)
		w.expectOpen(old, true)
		old.work(false)
		time.Sleep(idleEvery)
		w.expectOpen(old, false)
		w.sleepTo(time.Minute)
		w.expectOpen(fresh, true)
		w.expectState(Connected)
		w.expectSaid(1, "cluster peer settings changed; redialing")
		w.expectSaid(0, "cluster peer session closed")
	})
}

func TestIdleSessionIsReplacedSoon(t *testing.T) {
	run(t, static(t, "https://a.example/?jwt=1"), func(t *testing.T, w *world) {
		w.replace("https://a.example/?jwt=2")
		w.expectOpen(w.session(0), true) // announcements must arrive over the new one
		time.Sleep(settle)
		w.expectOpen(w.session(0), false)
	})
}

func TestBusySessionIsReplacedInTenSeconds(t *testing.T) {
	run(t, static(t, "https://a.example/?jwt=1"), func(t *testing.T, w *world) {
		w.session(0).work(true)
		w.replace("https://a.example/?jwt=2")
		w.sleepTo(overlap - 1)
		w.expectOpen(w.session(0), true)
		w.sleepTo(overlap)
		w.expectOpen(w.session(0), false)
		w.expectSaid(1, "old session did not drain in time; closing")
		w.expectOpen(w.session(1), true)
	})
}

// The old settings end after ten seconds even if the new ones lead nowhere.
func TestReplacementFails(t *testing.T) {
	run(t, static(t, "https://a.example/?jwt=1"), func(t *testing.T, w *world) {
		w.answers(func(*fakeSession) error { return errors.New("nobody there") })
		w.replace("https://a.example/?jwt=2")
		w.expectState(Connected)
		w.sleepTo(overlap)
		w.expectOpen(w.session(0), false)
		w.answers(nil)
		time.Sleep(10 * time.Second)
		w.expectState(Connected)
		time.Sleep(time.Minute)
		w.expectOpen(w.session(1), true)
	})
}

// The deadline of a session that ended by itself is not its successor's.
func TestOldSessionEndsDuringTheChange(t *testing.T) {
	run(t, static(t, "https://a.example/?jwt=1"), func(t *testing.T, w *world) {
		w.answers(func(*fakeSession) error { time.Sleep(3 * time.Second); return nil })
		w.replace("https://a.example/?jwt=2")
		time.Sleep(time.Second)
		w.session(0).end <- errors.New("gone")
		time.Sleep(5 * time.Second)
		w.expectState(Connected)
		w.sleepTo(time.Minute)
		w.expectOpen(w.session(1), true)
		if w.dials() != 2 {
			t.Errorf("%d dials, want 2", w.dials())
		}
	})
}

// A change while an earlier one still drains: each session has its own deadline, and none outlives it.
func TestChangeDuringAChange(t *testing.T) {
	run(t, static(t, "https://a.example/?jwt=1"), func(t *testing.T, w *world) {
		w.session(0).work(true)
		w.replace("https://a.example/?jwt=2")
		w.session(1).work(true)
		w.sleepTo(5 * time.Second)
		w.answers(func(*fakeSession) error { return errors.New("nobody there") })
		w.replace("https://a.example/?jwt=3")
		w.expectOpen(w.session(0), false)
		w.sleepTo(5*time.Second + overlap - 1)
		w.expectOpen(w.session(1), true)
		w.sleepTo(5*time.Second + overlap)
		w.expectOpen(w.session(1), false)
		w.answers(nil)
		time.Sleep(time.Minute)
		w.expectLinks("https://a.example/?jwt=3")
	})
}

// New settings are tried at once, and as often as those of a new peer.
func TestChangeOfAPeerThatIsDown(t *testing.T) {
	run(t, static(t, "https://a.example/?jwt=1"), func(t *testing.T, w *world) {
		w.answers(func(*fakeSession) error { return errors.New("nobody there") })
		w.session(0).end <- errors.New("gone")
		w.sleepTo(40 * time.Second)
		n := w.dials()
		w.replace("https://a.example/?jwt=2")
		time.Sleep(4 * time.Second)
		if w.dials() != n+3 {
			t.Errorf("dials at %v, want three after 40s: at once, after 1s, after 2s more", w.times)
		}
	})
}

// Of many changes at once only the last is left.
func TestChangesInARow(t *testing.T) {
	run(t, static(t, "https://a.example/?jwt=0"), func(t *testing.T, w *world) {
		for _, token := range []string{"1", "2", "3", "4"} {
			w.replace("https://a.example/?jwt=" + token)
		}
		time.Sleep(time.Minute)
		open := 0
		for n := range w.dials() {
			if s := w.session(n); s.open() {
				open++
				if s.url != "https://a.example/?jwt=4" {
					t.Errorf("%s is open", s.url)
				}
			}
		}
		if open != 1 {
			t.Errorf("%d sessions are open, want 1", open)
		}
	})
}

// TestPeerRestarts: a GOAWAY without a place to go. The session serves until the peer closes it.
func TestPeerRestarts(t *testing.T) {
	run(t, static(t, "https://a.example/"), func(t *testing.T, w *world) {
		w.sleepTo(time.Minute)
		w.session(0).say("")
		w.expectSaid(1, "peer is restarting; serving until it closes the session")
		w.expectState(Leaving)
		time.Sleep(time.Minute)
		w.expectOpen(w.session(0), true)
		w.session(0).end <- &session.CloseError{Code: session.CodeNoError, Remote: true}
		time.Sleep(time.Second)
		w.expectState(Connected)
		if w.dials() != 2 {
			t.Errorf("%d dials, want one more", w.dials())
		}
	})
}

// TestMigration is our side of scenario I8.
func TestMigration(t *testing.T) {
	run(t, static(t, "https://a.example/?jwt=1&cost=3"), func(t *testing.T, w *world) {
		w.sleepTo(time.Minute)
		old := w.session(0)
		old.work(true)
		old.say("https://a.example:4443/")
		w.expectSaid(1, "upstream GOAWAY; migrating", "other=https://a.example:4443/")
		if got := w.request(1); got.URL != "https://a.example:4443/?jwt=1" || got.LinkCost != lite.Some(3) {
			t.Errorf("dialled %s at %+v", got.URL, got.LinkCost)
		}
		w.expectOpen(old, true)
		w.expectState(Connected)
		old.work(false)
		time.Sleep(settle)
		w.expectOpen(old, false)
		w.session(1).end <- errors.New("gone")
		time.Sleep(time.Second)
		if got := w.request(2); got.URL != "https://a.example/?jwt=1" {
			t.Errorf("after that dialled %s, want what is configured", got.URL)
		}
	})
}

func TestHandoverDeadline(t *testing.T) {
	cfg := static(t, "https://a.example/")
	cfg.Handover = 3 * time.Second
	run(t, cfg, func(t *testing.T, w *world) {
		w.sleepTo(time.Minute)
		w.answers(func(*fakeSession) error { time.Sleep(8 * time.Second); return nil })
		w.session(0).say("https://a.example:4443/")
		time.Sleep(3*time.Second - 1)
		w.expectOpen(w.session(0), true)
		time.Sleep(time.Nanosecond)
		w.expectOpen(w.session(0), false)
		w.expectSaid(1, "old session did not drain in time; closing")
		time.Sleep(time.Minute)
		w.expectOpen(w.session(1), true)
	})
}

func TestForbiddenRedirects(t *testing.T) {
	for _, tc := range []struct {
		policy peers.RedirectPolicy
		uri    string
	}{{peers.SameHost, "https://b.example/"}, {peers.Ignore, "https://a.example:1/"}, {peers.Follow, "ws://a.example/"}, {peers.Follow, "?"}} {
		cfg := static(t, "https://a.example/")
		cfg.Redirect = tc.policy
		run(t, cfg, func(t *testing.T, w *world) {
			w.sleepTo(time.Minute)
			w.session(0).say(tc.uri)
			time.Sleep(time.Minute)
			w.expectOpen(w.session(0), true)
			w.expectState(Leaving)
			w.expectSaid(1, "upstream GOAWAY is not followed")
			if w.dials() != 1 {
				t.Errorf("%s: %d dials, want 1", tc.uri, w.dials())
			}
		})
	}
}

// Two places that send us to each other do so under the backoff.
func TestNoPingPong(t *testing.T) {
	cfg := static(t, "https://a.example/")
	cfg.Redirect = peers.Follow
	run(t, cfg, func(t *testing.T, w *world) {
		ping := func(s *fakeSession) error {
			to := "https://b.example/"
			if s.url == to {
				to = "https://a.example/"
			}
			s.say(to)
			return nil
		}
		w.answers(ping)
		w.session(0).end <- errors.New("x")
		time.Sleep(2 * time.Minute)
		if n := w.dials(); n < 10 || n > 20 {
			t.Errorf("%d dials in two minutes, want one in ten seconds at most and the first few", n)
		}
		if at := w.times[len(w.times)-2:]; at[1]-at[0] != peers.LastWait {
			t.Errorf("dials at %v, want %v between the last ones", w.times, peers.LastWait)
		}
	})
}
