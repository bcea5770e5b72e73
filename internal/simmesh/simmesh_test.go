package simmesh_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/moqmesh/moqmesh/internal/simmesh"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A chain of three: what is published at one end is watched at the other, and all is counted.
func TestChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := simmesh.New(t, 20*time.Millisecond, "a-b", "b-c:4")
		p := m.Publish("a", "demo/cam")
		got := m.Subscribe("c", "demo/cam")
		time.Sleep(3 * time.Second)
		sent := p.Pause()
		time.Sleep(time.Second)
		if via, hops := got.Via(), m.Relay("c").Hops("demo/cam"); via != "b" || !slices.Equal(hops, []string{"a", "b", "c"}) {
			t.Errorf("c pulls via %q along %v", via, hops)
		}
		tally := got.Tally(p)
		if tally.First != 0 || tally.Last+1 != sent || len(tally.Missing) > 0 || tally.Twice != 0 || tally.Resets != 0 {
			t.Errorf("the viewer got %+v of %d groups", tally, sent)
		}
		for _, l := range m.Links() {
			if l.Groups() < 25 || l.Subscriptions() != 1 {
				t.Errorf("over %v came %d groups, %d subscriptions run", l, l.Groups(), l.Subscriptions())
			}
		}
		if n := m.Messages(); n.Starts != 2 || n.Ends != 0 || n.Updates > 4 {
			t.Errorf("messages: %v", n)
		}
	})
}

// What is cut is noticed by the idle timeout, and comes back when it is healed.
func TestCutAndHeal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := simmesh.New(t, 20*time.Millisecond, "a-b", "b-c")
		m.Publish("a", "demo/cam")
		all := func() bool { return len(m.Listing("demo/cam")) == 3 }
		m.Until(time.Second, all)
		m.Partition("c")
		m.Until(15*time.Second, func() bool { return len(m.Listing("demo/cam")) == 2 })
		m.Heal()
		m.Until(15*time.Second, all)
		m.Relay("b").Crash()
		m.Until(15*time.Second, func() bool { return !m.Relay("c").Lists("demo/cam") })
		m.Relay("b").Restart(77)
		m.Until(15*time.Second, all)
		m.Relay("a").Stop()
		m.Until(time.Second, func() bool { return len(m.Listing("demo/cam")) == 0 })
	})
}
