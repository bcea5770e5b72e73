package cluster

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

func seconds(n ...float64) (d []time.Duration) {
	for _, s := range n {
		d = append(d, time.Duration(s*float64(time.Second)))
	}
	return d
}

func (w *world) expectDials(want []time.Duration) {
	w.t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.times, want) {
		w.t.Errorf("dials at %v, want %v", w.times, want)
	}
}

// The credential goes where the URL has none, the price is used and declared, and nothing of it is shown.
func TestDialRequest(t *testing.T) {
	cfg := static(t, "https://a.example/x?cost=4&v=1", "https://b.example/?jwt=s3cret", "https://c.example/?jwt=")
	cfg.Static[1].Egress, cfg.Static[1].ID = peers.Fixed(7), 99
	cfg.Token = "c0mmon"
	run(t, cfg, func(t *testing.T, w *world) {
		want := map[peers.Key]Request{
			"https://a.example/x": {URL: "https://a.example/x?v=1&jwt=c0mmon", LinkCost: lite.Some(4), Declare: lite.Some(4)},
			"https://b.example/":  {URL: "https://b.example/?jwt=s3cret", Declare: lite.Some(7), PeerID: 99},
			"https://c.example/":  {URL: "https://c.example/?jwt=c0mmon"},
		}
		for n := range 3 {
			got := w.request(n)
			exp := want[got.Peer]
			if got.URL != exp.URL || got.LinkCost != exp.LinkCost || got.Declare != exp.Declare || got.PeerID != exp.PeerID {
				t.Errorf("dial of %s: %+v, want %+v", got.Peer, got, exp)
			}
		}
		w.expectSaid(3, "dialing cluster peer")
		w.expectSaid(0, "s3cret")
		w.expectSaid(0, "c0mmon")
	})
}

// TestPeerIsDown is scenario F8: retries for ever, waits under the ceiling, one line for each.
func TestPeerIsDown(t *testing.T) {
	run(t, static(t, "https://a.example/?jwt=s3cret"), func(t *testing.T, w *world) {
		w.answers(func(*fakeSession) error { return errors.New("no route to https://a.example/?jwt=s3cret") })
		w.session(0).end <- errors.New("timeout") // the first one was well
		time.Sleep(time.Minute)
		w.expectDials(seconds(0, 1, 3, 7, 15, 25, 35, 45, 55))
		w.expectSaid(9, "cluster peer error; will retry", "https://a.example/", "rejected=false")
		w.expectSaid(0, "s3cret")
		w.expectState(Waiting)
		if s := w.link(); s.Attempts != 9 || s.Err != "no route to https://a.example/?jwt=(hidden)" {
			t.Errorf("status %+v", s)
		}
		w.answers(nil)
		time.Sleep(5 * time.Second)
		w.expectState(Connected)
	})
}

// TestRejected is report A09: the peer says no, which is visible, and does not stop us.
func TestRejected(t *testing.T) {
	run(t, static(t, "https://a.example/"), func(t *testing.T, w *world) {
		no := &session.CloseError{Code: session.CodeUnauthorized, Reason: "expired", Remote: true}
		w.answers(func(s *fakeSession) error { s.end <- no; return nil })
		w.session(0).end <- no
		time.Sleep(time.Minute)
		w.expectState(Rejected)
		w.expectSaid(9, "cluster peer error; will retry", "rejected=true", "unauthorized (expired)")
		if got := w.count.Rejections.Load(); got != 9 {
			t.Errorf("%d rejections counted, want 9", got)
		}
		w.answers(nil)
		time.Sleep(10 * time.Second)
		w.expectState(Connected)
	})
}

// TestClosesQuickly is scenario F9 and report A05: a peer that accepts and closes is not dialled once a second.
func TestClosesQuickly(t *testing.T) {
	run(t, static(t, "https://a.example/"), func(t *testing.T, w *world) {
		bye := &session.CloseError{Code: session.CodeNoError, Remote: true}
		w.session(0).end <- bye
		for n := 1; n <= 3; n++ {
			time.Sleep(11 * time.Second)
			w.session(n).end <- bye
		}
		w.expectSaid(4, "cluster peer session closed; reconnecting")
		w.expectDials(seconds(0, 1, 12, 23)) // sessions of 10 s and more start anew
		w.answers(func(s *fakeSession) error { s.end <- bye; return nil })
		time.Sleep(time.Minute)
		w.expectDials(seconds(0, 1, 12, 23, 34, 36, 40, 48, 58, 68, 78, 88))
		if n := w.count.Failures.Load(); n != 0 {
			t.Errorf("%d failures counted, want none", n)
		}
	})
}

func TestPeerNeverSaysWhatItIs(t *testing.T) {
	cfg := static(t, "https://a.example/")
	run(t, cfg, func(t *testing.T, w *world) {
		w.answers(func(s *fakeSession) error { s.mute = true; return nil })
		w.session(0).end <- errors.New("x")
		time.Sleep(time.Second)
		s := w.session(1)
		w.expectState(Connecting)
		time.Sleep(setupTime)
		w.expectOpen(s, false)
		w.expectSaid(1, "cluster peer error; will retry", "control message timeout (no setup)")
	})
}

func TestHangingDial(t *testing.T) {
	cfg := static(t, "https://a.example/")
	run(t, cfg, func(t *testing.T, w *world) {
		w.answers(func(s *fakeSession) error { time.Sleep(dialTime + 1); return nil })
		w.session(0).end <- errors.New("x")
		time.Sleep(dialTime + 2*time.Second)
		w.expectSaid(1, "cluster peer error; will retry", "deadline exceeded")
	})
}

// A changed price stays with the session.
func TestReprice(t *testing.T) {
	run(t, static(t, "https://a.example/?cost=4"), func(t *testing.T, w *world) {
		s := w.session(0)
		s.setup.Cost = lite.Some(6)
		if got := w.link(); got.Price != 4 || got.PriceFrom != OwnPrice {
			t.Errorf("price %d, %s, want 4 of our own", got.Price, got.PriceFrom)
		}
		w.replace("https://a.example/?cost=9")
		if got := s.price(); got != lite.Some(9) {
			t.Errorf("price of the session %+v, want 9", got)
		}
		w.replace("https://a.example/")
		if got := s.price(); got != (lite.Optional{}) {
			t.Errorf("price of the session %+v, want the peer's", got)
		}
		if w.dials() != 1 || w.count.Reprices.Load() != 2 {
			t.Errorf("%d dials, %d new prices, want 1 and 2", w.dials(), w.count.Reprices.Load())
		}
	})
}

func TestDeclaredPrice(t *testing.T) {
	run(t, static(t, "https://a.example/"), func(t *testing.T, w *world) {
		if got := w.link(); got.Price != 1 || got.PriceFrom != DefaultPrice {
			t.Errorf("price %d, %s, want 1 by default", got.Price, got.PriceFrom)
		}
		w.answers(func(s *fakeSession) error { s.setup.Cost = lite.Some(6); return nil })
		w.session(0).end <- errors.New("x")
		time.Sleep(time.Second)
		if got := w.link(); got.Price != 6 || got.PriceFrom != DeclaredPrice {
			t.Errorf("price %d, %s, want 6 as declared", got.Price, got.PriceFrom)
		}
	})
}

// TestMeasuredPrice is "?cost=auto": priced from the first figures on, in place.
func TestMeasuredPrice(t *testing.T) {
	run(t, static(t, "https://a.example/?cost=auto"), func(t *testing.T, w *world) {
		measure := func(s *fakeSession, rtt time.Duration) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.stats.RTT = rtt
		}
		s := w.session(0)
		measure(s, 50*time.Millisecond)
		time.Sleep(peers.AutoEvery)
		synctest.Wait()
		if got := w.link(); s.price() != lite.Some(10) || got.Price != 10 || got.PriceFrom != MeasuredPrice {
			t.Errorf("price %+v, status %d %s, want 10 as measured", s.price(), got.Price, got.PriceFrom)
		}
		measure(s, 100*time.Millisecond)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if s.price() != lite.Some(20) || w.dials() != 1 {
			t.Errorf("price %+v, %d dials, want 20 in place", s.price(), w.dials())
		}
		s.end <- errors.New("x")
		time.Sleep(time.Second)
		if r := w.request(1); r.LinkCost != lite.Some(20) || r.Declare != lite.Some(20) {
			t.Errorf("next dial at %+v, declares %+v, want the last measure", r.LinkCost, r.Declare)
		}
		w.replace("https://a.example/?cost=3")
		if got := w.session(1).price(); got != lite.Some(3) {
			t.Errorf("price %+v, want 3", got)
		}
		w.expectSaid(2, "cluster link measured; cost changed")
	})
}

// TestOwnHopID is report A12: one loud line that names both, and no session.
func TestOwnHopID(t *testing.T) {
	cfg := static(t, "https://a.example/")
	cfg.Node = "https://me.example"
	run(t, cfg, func(t *testing.T, w *world) {
		w.answers(func(s *fakeSession) error { s.setup.Hop = ownID; return nil })
		w.session(0).end <- errors.New("x")
		time.Sleep(time.Minute)
		w.expectSaid(1, "level=ERROR", "cluster peer has this relay's own hop id", "node=https://me.example/", "peer=https://a.example/", "hop_id=1000")
		w.expectSaid(8, "cluster peer error; will retry", "rejected=true", "own hop id")
		w.expectState(Rejected)
		if _, err := w.cluster.Join(Inbound{Remote: "192.0.2.1:5", Setup: lite.Setup{Hop: ownID}}); err == nil {
			t.Error("a peer with our hop id may join")
		}
		w.expectSaid(1, "level=ERROR", "peer=192.0.2.1:5")
	})
}

func TestTwoPeersShareAHopID(t *testing.T) {
	run(t, Config{}, func(t *testing.T, w *world) {
		w.answers(func(s *fakeSession) error { s.setup.Hop = 7; return nil })
		w.replace("https://a.example/", "https://b.example/")
		time.Sleep(time.Minute)
		w.expectSaid(1, "level=ERROR", "two cluster peers share one hop id", "https://a.example/", "https://b.example/", "hop_id=7")
	})
}

func TestSecretsAreTakenOut(t *testing.T) {
	long := strings.Repeat("x", 1000)
	if got := redact("a s3cret b s3cret", "", "s3cret"); got != "a (hidden) b (hidden)" {
		t.Errorf("got %q", got)
	}
	if got := redact("at ?jwt=a%2Bb: a+b", "a+b"); got != "at ?jwt=(hidden): (hidden)" {
		t.Errorf("got %q", got)
	}
	if got := redact(long); len(got) > 600 {
		t.Errorf("%d bytes of a message of %d", len(got), len(long))
	}
}
