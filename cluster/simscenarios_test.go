package cluster_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/internal/simmesh"
	"github.com/moqmesh/moqmesh/moq"
)

// changes reads what a watcher has heard since.
func changes(w *moq.Watcher) (counts map[moq.Change]int) {
	counts = make(map[moq.Change]int)
	for ev, ok := w.Next(); ok; ev, ok = w.Next() {
		counts[ev.Change]++
	}
	return counts
}

// TestChainOfThree is scenarios G1 and G2.
func TestChainOfThree(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := simmesh.New(t, latency, "b-a", "c-b")
		p := m.Publish("a", cam)
		viewers := []*simmesh.Viewer{m.Subscribe("c", cam), m.Subscribe("c", cam)}
		time.Sleep(5 * time.Second)
		if hops := m.Relay("c").Hops(cam); !slices.Equal(hops, []string{"a", "b", "c"}) {
			t.Errorf("c is told of the way %v", hops)
		}
		for _, l := range m.Links() {
			if n, groups := l.Subscriptions(), l.Groups(); n != 1 || groups > p.Groups() {
				t.Errorf("over %v run %d subscriptions, %d groups of %d came", l, n, groups, p.Groups())
			}
		}
		for _, v := range viewers {
			unharmed(t, v, p)
		}
	})
}

// TestAllChooseAlike is scenario G3: of two ways that are alike all relays take the same one, the names are spread over
// both, and a restart under the same ids changes nothing.
func TestAllChooseAlike(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := simmesh.New(t, latency, "b-a", "c-a", "d-b", "d-c", "e-b", "e-c")
		const names = 20
		path := func(n int) string { return fmt.Sprintf("demo/%d", n) }
		publish := func() {
			for n := range names {
				local(m.Relay("a"), path(n))
			}
			everywhere(t, m, path(names-1), time.Second)
			m.Quiet(5 * time.Second)
		}
		chosen := func() (by map[string][]string) {
			by = make(map[string][]string)
			for n := range names {
				d, e := m.Relay("d").Via(path(n)), m.Relay("e").Via(path(n))
				if d != e {
					t.Errorf("%s goes over %s to d and over %s to e", path(n), d, e)
				}
				by[d] = append(by[d], path(n))
			}
			return by
		}
		publish()
		before := chosen()
		if len(before["b"]) < 4 || len(before["c"]) < 4 {
			t.Errorf("the names are not spread: %v", before)
		}
		for _, r := range m.Relays() {
			r.Restart(0)
		}
		m.AwaitLinks(time.Minute)
		publish()
		if after := chosen(); !slices.Equal(after["b"], before["b"]) {
			t.Errorf("over b went %v, and after the restart %v", before["b"], after["b"])
		}
	})
}

// TestStandby is scenario G7: a live publisher takes the viewers from a dear standby at its relay, which gets them back
// when it dies. The two have other content: a viewer begins anew each time.
func TestStandby(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := simmesh.New(t, latency, "b-a")
		standby := m.PublishAs("a", cam, simmesh.Publishing{Cost: 1000})
		got := m.Subscribe("b", cam)
		time.Sleep(3 * time.Second)
		live := m.Publish("a", cam)
		came := time.Now()
		time.Sleep(5 * time.Second)
		if tally := got.Tally(live); tally.Whole < 20 || len(tally.Missing) > 0 || got.Since(standby, came) > 30 {
			t.Errorf("of the live publisher the viewer got %+v, and %d groups of the standby", tally, got.Since(standby, came))
		}
		live.Leave()
		left := time.Now()
		time.Sleep(5 * time.Second)
		if n := got.Since(standby, left); n < 40 {
			t.Errorf("%d groups of the standby in 5s", n)
		}
		if tally := got.Tally(standby); tally.Resets != 2 {
			t.Errorf("%d subscriptions ended, want one for each change of content", tally.Resets)
		}
	})
}

// A standby that is watched is paid for (C9): relays on the way to it stay there, though a live publisher is as near.
func TestWatchedStandbyStays(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := simmesh.New(t, latency, "a-b", "b-c")
		standby := m.PublishAs("c", cam, simmesh.Publishing{Cost: 1000})
		got := m.Subscribe("b", cam)
		time.Sleep(3 * time.Second)
		live := m.Publish("a", cam)
		time.Sleep(time.Minute)
		via(t, got, "c")
		unharmed(t, got, standby)
		if tally := got.Tally(live); tally.Whole > 0 {
			t.Errorf("of the live publisher the viewer got %+v", tally)
		}
	})
}

// TestStandbyIsOffered is scenario G8: who serves is told of the standby behind those whom it serves. The name stays
// when it leaves, and goes with the last.
func TestStandbyIsOffered(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := simmesh.New(t, latency, "a-b", "b-c", "c-a")
		live := m.Publish("a", cam)
		standby := m.PublishAs("b", cam, simmesh.Publishing{Cost: 50})
		everywhere(t, m, cam, time.Second)
		m.Quiet(5 * time.Second)
		for _, r := range m.Relays() {
			if hops := r.Hops(cam); hops[0] != "a" {
				t.Errorf("%s is served from %v", r.Name(), hops)
			}
		}
		w := m.Relay("c").Origin().Watch(cam, moq.Reader{})
		defer w.Close()
		changes(w)
		live.Leave()
		m.Until(time.Second, func() bool {
			return !slices.ContainsFunc(m.Relays(), func(r *simmesh.Relay) bool { h := r.Hops(cam); return len(h) == 0 || h[0] != "b" })
		})
		if got := changes(w); got[moq.Ended] != 0 || got[moq.Replaced] != 1 {
			t.Errorf("c heard %v, want the publisher replaced", got)
		}
		standby.Leave()
		nowhere(t, m, cam, time.Second)
		m.Quiet(5 * time.Second)
		still(t, m, time.Minute)
	})
}

// bounded is a mesh of which no relay takes or passes on longer lists.
func bounded(t *testing.T, maxHops int, links ...string) *simmesh.Mesh {
	m := simmesh.Prepare(t, latency, links...)
	for _, r := range m.Relays() {
		r.Bound(maxHops)
	}
	m.Start()
	return m
}

// TestHopCap is scenario G9: a list at the bound is used and goes no further, and one that grows beyond it is withdrawn
// from those who had it.
func TestHopCap(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := bounded(t, 4, "a-b", "b-c", "c-d", "d-e", "e-f", "a-c")
		m.Publish("a", cam) // itself the first hop
		m.Until(time.Second, func() bool { return slices.Equal(m.Listing(cam), []string{"a", "b", "c", "d", "e"}) })
		m.Quiet(5 * time.Second)
		if m.Relay("f").Lists(cam) {
			t.Error("f is told of a list over the bound")
		}
		m.Cut("a-c")
		m.Until(15*time.Second, func() bool { return slices.Equal(m.Listing(cam), []string{"a", "b", "c", "d"}) })
		m.Quiet(5 * time.Second)
		if listing := m.Listing(cam); len(listing) != 4 {
			t.Errorf("listed by %v over the long way", listing)
		}
		m.Heal()
		m.Until(15*time.Second, func() bool { return slices.Equal(m.Listing(cam), []string{"a", "b", "c", "d", "e"}) })
	})
}

// TestOneWithdrawalEach is scenario G10: of a hundred broadcasts in a full mesh, all withdrawn, a relay sees each go
// once, and come back.
func TestOneWithdrawalEach(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := simmesh.New(t, latency, full(8)...)
		w := m.Relay("r7").Origin().Watch("demo", moq.Reader{})
		defer w.Close()
		for round := range 2 {
			var handles []*moq.Announcement
			for n := range 100 {
				handles = append(handles, local(m.Relay(fmt.Sprintf("r%d", n%7)), fmt.Sprintf("demo/%d", n)))
			}
			m.Until(5*time.Second, func() bool { return m.Relay("r7").Origin().Len() == 100 })
			m.Quiet(10 * time.Second)
			changes(w)
			for _, h := range handles {
				h.Withdraw()
			}
			ended := make(map[string]int)
			m.Quiet(10 * time.Second)
			for ev, ok := w.Next(); ok; ev, ok = w.Next() {
				if ev.Change != moq.Ended {
					t.Errorf("round %d: %s: change %d", round, ev.Path, ev.Change)
				}
				ended[ev.Path]++
			}
			if len(ended) != 100 {
				t.Errorf("round %d: %d withdrawals", round, len(ended))
			}
			for path, n := range ended {
				if n != 1 {
					t.Errorf("round %d: %s went %d times", round, path, n)
				}
			}
			for _, r := range m.Relays() {
				if n := r.Origin().Len(); n != 0 {
					t.Errorf("round %d: %s still lists %d", round, r.Name(), n)
				}
			}
		}
	})
}

// TestPartialMeshWithACap is scenario G11: a bound of two more than the mesh is wide keeps nobody from learning of a
// broadcast, nor from hearing of its end.
func TestPartialMeshWithACap(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		// A ring of eight with one chord; four links wide.
		m := bounded(t, 6, "a-b", "b-c", "c-d", "d-e", "e-f", "f-g", "g-h", "h-a", "a-e")
		for range 5 {
			p := m.Publish("c", cam)
			everywhere(t, m, cam, time.Second)
			p.Withdraw()
			nowhere(t, m, cam, 5*time.Second)
			m.Quiet(5 * time.Second)
			if listing := m.Listing(cam); len(listing) > 0 {
				t.Errorf("came back at %v", listing)
			}
			p.Leave()
		}
		still(t, m, time.Minute)
	})
}

// TestAnonymousPublisher is scenario G13: the broadcast of a publisher without an id is never withdrawn.
func TestAnonymousPublisher(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := simmesh.New(t, latency, "a-b", "b-c", "c-a")
		p := m.PublishAs("a", cam, simmesh.Publishing{Anonymous: true})
		got := m.Subscribe("c", cam)
		everywhere(t, m, cam, time.Second)
		w := m.Relay("c").Origin().Watch(cam, moq.Reader{})
		defer w.Close()
		time.Sleep(10 * time.Second)
		if heard := changes(w); heard[moq.Ended]+heard[moq.Replaced] > 0 {
			t.Errorf("c heard %v", heard)
		}
		if n := m.Messages(); n.Ends > 0 {
			t.Errorf("messages: %v", n)
		}
		unharmed(t, got, p)
	})
}

// TestLeavingPeersRoutes is scenario I7 in a mesh: who is asked to leave, in either direction of a link, goes another
// way before the session ends.
func TestLeavingPeersRoutes(t *testing.T) {
	for _, link := range []string{"d-b", "b-d"} {
		t.Run(link, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				m := simmesh.New(t, latency, "b-a", link, "c-a:5", "d-c")
				p := m.Publish("a", cam)
				got := m.Subscribe("d", cam)
				w := m.Relay("d").Origin().Watch(cam, moq.Reader{})
				defer w.Close()
				time.Sleep(5 * time.Second)
				via(t, got, "b")
				m.Relay("b").Drain(nil)
				time.Sleep(time.Second)
				via(t, got, "c")
				time.Sleep(4 * time.Second)
				m.Relay("b").Stop()
				time.Sleep(time.Second)
				unharmed(t, got, p)
				within(t, got, p, 500*time.Millisecond)
				if heard := changes(w); heard[moq.Ended]+heard[moq.Replaced] > 0 {
					t.Errorf("d heard %v", heard)
				}
			})
		})
	}
}

// TestRedirectedToASibling is scenario I8: a relay that is sent to another one moves, and its viewers do not notice.
func TestRedirectedToASibling(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := simmesh.New(t, latency, "b-a", "c-a", "d-b")
		p := m.Publish("a", cam)
		got := m.Subscribe("d", cam)
		time.Sleep(5 * time.Second)
		via(t, got, "b")
		w := m.Relay("d").Origin().Watch(cam, moq.Reader{})
		defer w.Close()
		changes(w)
		m.Relay("b").Drain(m.Relay("c"))
		time.Sleep(10 * time.Second)
		via(t, got, "c")
		m.Relay("b").Stop()
		time.Sleep(2 * time.Second)
		unharmed(t, got, p)
		within(t, got, p, 500*time.Millisecond)
		if heard := changes(w); heard[moq.Ended]+heard[moq.Replaced] > 0 {
			t.Errorf("d heard %v", heard)
		}
	})
}
