package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/internal/simmesh"
)

const (
	cam     = "demo/cam"
	latency = 20 * time.Millisecond
	// idle is how long a relay takes to notice that a peer is silent, and a little more.
	idle = 11 * time.Second
)

// inBubble runs a test with real relays and no sockets, in fake time.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// unharmed: the viewer has every group of the publisher from the first one to the last, each once, in one subscription.
func unharmed(t *testing.T, got *simmesh.Viewer, p *simmesh.Publisher) {
	t.Helper()
	sent := p.Pause()
	time.Sleep(2 * time.Second)
	tally := got.Tally(p)
	if tally.First != 0 || tally.Last+1 != sent || len(tally.Missing) > 0 || tally.Twice > 0 || tally.Resets > 0 {
		t.Errorf("the viewer got %+v of %d groups, want each once", tally, sent)
	}
}

// within: no time without a group was longer than most.
func within(t *testing.T, got *simmesh.Viewer, p *simmesh.Publisher, most time.Duration) {
	t.Helper()
	if longest := got.Tally(p).Longest; longest > most {
		t.Errorf("the viewer had no group for %v, want at most %v", longest, most)
	}
}

// via: the viewer's relay pulls from that one.
func via(t *testing.T, got *simmesh.Viewer, want string) {
	t.Helper()
	if via := got.Via(); via != want {
		t.Errorf("the relay of the viewer pulls via %q, want %q", via, want)
	}
}

// A link that is cut is noticed by the idle timeout. The groups of that time come over the other way, all of them.
func TestRerouteAfterCut(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := simmesh.New(t, latency, "a-b", "b-d", "a-c:2", "c-d")
		p := m.Publish("a", cam)
		got := m.Subscribe("d", cam)
		time.Sleep(5 * time.Second)
		via(t, got, "b")
		m.Cut("b-d")
		time.Sleep(idle)
		via(t, got, "c")
		unharmed(t, got, p)
		within(t, got, p, idle)
	})
}

// The relay in the middle dies instead of its link.
func TestRerouteAfterCrash(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := simmesh.New(t, latency, "a-b", "b-d", "a-c:2", "c-d")
		p := m.Publish("a", cam)
		got := m.Subscribe("d", cam)
		time.Sleep(5 * time.Second)
		m.Relay("b").Crash()
		time.Sleep(idle)
		via(t, got, "c")
		m.Relay("b").Restart(0)
		time.Sleep(30 * time.Second)
		via(t, got, "c") // which carries the broadcast: one more viewer costs nothing there
		unharmed(t, got, p)
		within(t, got, p, idle)
	})
}

// A relay that stops says so, and nobody waits for a timeout.
func TestRerouteAfterStop(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := simmesh.New(t, latency, "a-b", "b-d", "a-c:2", "c-d")
		p := m.Publish("a", cam)
		got := m.Subscribe("d", cam)
		time.Sleep(5 * time.Second)
		m.Relay("b").Stop()
		time.Sleep(2 * time.Second)
		via(t, got, "c")
		unharmed(t, got, p)
		within(t, got, p, time.Second)
	})
}

// A price that changes in place moves the viewers to the cheaper way, and the old one serves until the new one does.
func TestRepriceLosesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := simmesh.New(t, latency, "b-a", "d-b:1", "c-a", "d-c:5")
		p := m.Publish("a", cam)
		got := m.Subscribe("d", cam)
		time.Sleep(5 * time.Second)
		via(t, got, "b")
		m.Link("d-b").Price(50)
		time.Sleep(5 * time.Second)
		via(t, got, "c")
		m.Link("d-b").Price(1)
		time.Sleep(20 * time.Second)
		via(t, got, "b")
		unharmed(t, got, p)
		within(t, got, p, 500*time.Millisecond)
		if n := m.Link("d-b").Subscriptions() + m.Link("d-c").Subscriptions(); n != 1 {
			t.Errorf("%d subscriptions run into d, want one", n)
		}
	})
}

// While a session is replaced by another one with the same peer nothing is lost.
func TestReplacedSessionLosesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := simmesh.New(t, latency, "d-a")
		p := m.Publish("a", cam)
		got := m.Subscribe("d", cam)
		time.Sleep(5 * time.Second)
		for range 3 {
			m.Link("d-a").Renew()
			time.Sleep(20 * time.Second)
		}
		unharmed(t, got, p)
		within(t, got, p, 500*time.Millisecond)
		if n := m.Link("d-a").Subscriptions(); n != 1 {
			t.Errorf("%d subscriptions run, want one", n)
		}
	})
}

// TestHundredCostChanges is report A13: announcements that only change in place disturb nobody.
func TestHundredCostChanges(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := simmesh.New(t, latency, "b-a", "c-b")
		p := m.Publish("a", cam)
		got := m.Subscribe("c", cam)
		time.Sleep(2 * time.Second)
		before := m.Messages()
		for n := range uint64(100) {
			p.SetCost(1 + n%7)
			m.Link("b-a").Price(1 + n%5)
			time.Sleep(400 * time.Millisecond)
		}
		unharmed(t, got, p)
		within(t, got, p, 500*time.Millisecond)
		if n := m.Messages().Minus(before); n.Starts+n.Ends > 0 || n.Updates < 50 {
			t.Errorf("messages: %v, want updates", n)
		}
	})
}

// TestPublisherReturns is report A14: the publisher's packets are lost, and it comes back before that is noticed. Its
// viewers go on at once, with the groups of the time between, whether it is the same process or another one.
func TestPublisherReturns(t *testing.T) {
	for _, at := range []string{"a", "b"} {
		t.Run("the same, at "+at, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				m := simmesh.New(t, latency, "b-a", "c-b")
				p := m.Publish("a", cam)
				got := m.Subscribe("c", cam)
				time.Sleep(3 * time.Second)
				p.Reconnect(at)
				time.Sleep(20 * time.Second)
				unharmed(t, got, p)
				within(t, got, p, time.Second)
			})
		})
		t.Run("another, at "+at, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				m := simmesh.New(t, latency, "b-a", "c-b")
				p := m.Publish("a", cam)
				got := m.Subscribe("c", cam)
				time.Sleep(3 * time.Second)
				p.Crash()
				p = m.Publish(at, cam)
				time.Sleep(20 * time.Second)
				within(t, got, p, time.Second)
				if tally := got.Tally(p); tally.Resets != 1 || len(tally.Missing) > 0 || tally.First > 1 {
					t.Errorf("of the new publisher the viewer got %+v, want all in a second subscription", tally)
				}
			})
		})
	}
}
