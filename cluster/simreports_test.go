package cluster_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/internal/simmesh"
	"github.com/moqmesh/moqmesh/moq"
)

// everywhere: all relays serve the path, within that time.
func everywhere(t *testing.T, m *simmesh.Mesh, path string, most time.Duration) {
	t.Helper()
	m.Until(most, func() bool { return len(m.Listing(path)) == len(m.Relays()) })
}

// nowhere: no relay serves the path, within that time.
func nowhere(t *testing.T, m *simmesh.Mesh, path string, most time.Duration) {
	t.Helper()
	m.Until(most, func() bool { return len(m.Listing(path)) == 0 })
}

// still: nobody announces anything in that time.
func still(t *testing.T, m *simmesh.Mesh, d time.Duration) {
	t.Helper()
	before := m.Messages()
	time.Sleep(d)
	if n := m.Messages().Minus(before); n.Total() != 0 {
		t.Errorf("in %v in which nothing happened there were messages: %v", d, n)
	}
}

// full are the links of a full mesh.
func full(relays int) (links []string) {
	for i := range relays {
		for j := range i {
			links = append(links, fmt.Sprintf("r%d-r%d", i, j))
		}
	}
	return links
}

// local publishes a broadcast without tracks in the relay itself.
func local(r *simmesh.Relay, path string) *moq.Announcement {
	return r.Origin().Publish(path, moq.NewBroadcast(r.Origin().Cache(), nil))
}

// TestIdleMeshIsStill is report A01: an announcement does not come back to its sender, and is not told twice.
func TestIdleMeshIsStill(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := simmesh.New(t, latency, "a-b", "b-c", "c-a")
		m.Publish("a", cam)
		everywhere(t, m, cam, time.Second)
		m.Quiet(time.Second)
		still(t, m, time.Minute)
		for _, r := range m.Relays() {
			if n := r.Origin().Len(); n != 1 {
				t.Errorf("%s lists %d paths, want one", r.Name(), n)
			}
			if routes := r.Origin().Explain(cam); len(routes) > 2 {
				t.Errorf("%s has %d routes over two links: %+v", r.Name(), len(routes), routes)
			}
		}
	})
}

// TestGhostsOfAFullMesh is report A02: publisher and relay die and the relay comes back, under its id or another one.
// Nobody teaches the path to others again.
func TestGhostsOfAFullMesh(t *testing.T) {
	deaths := []struct {
		name string
		die  func(r *simmesh.Relay, p *simmesh.Publisher)
		most time.Duration
	}{
		{"told", func(r *simmesh.Relay, p *simmesh.Publisher) { p.Leave(); r.Stop() }, 5 * time.Second},
		{"silent", func(r *simmesh.Relay, p *simmesh.Publisher) { p.Crash(); r.Crash() }, idle + 5*time.Second},
	}
	for _, death := range deaths {
		for _, id := range []uint64{0, 99} {
			t.Run(fmt.Sprintf("%s, id %d", death.name, id), func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					m := simmesh.New(t, latency, full(6)...)
					p := m.Publish("r2", cam)
					got := m.Subscribe("r5", cam)
					everywhere(t, m, cam, time.Second)
					time.Sleep(time.Second)
					death.die(m.Relay("r2"), p)
					m.Relay("r2").Restart(id)
					nowhere(t, m, cam, death.most)
					m.AwaitLinks(time.Minute)
					m.Quiet(5 * time.Second)
					still(t, m, time.Minute)
					if listing := m.Listing(cam); len(listing) > 0 || got.Subscribed() {
						t.Errorf("listed by %v, the viewer is subscribed: %v", listing, got.Subscribed())
					}
					p = m.Publish("r2", cam)
					everywhere(t, m, cam, time.Second)
					time.Sleep(5 * time.Second)
					if tally := got.Tally(p); tally.Whole < 40 || len(tally.Missing) > 0 {
						t.Errorf("of the next publisher the viewer got %+v", tally)
					}
				})
			})
		}
	}
}

// TestMissingTrackInARing is report A03: nobody waits for the answer of somebody who waits for them.
func TestMissingTrackInARing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := simmesh.New(t, latency, "a-b", "b-c", "c-a")
		m.Publish("a", cam)
		everywhere(t, m, cam, time.Second)
		for _, r := range m.Relays() {
			took, err := m.Ask(r.Name(), cam, "missing")
			if !errors.Is(err, moq.ErrNotFound) || took > time.Second {
				t.Errorf("at %s: %v after %v, want not found within a second", r.Name(), err, took)
			}
		}
		time.Sleep(time.Second)
		for _, l := range m.Links() {
			if n := l.Subscriptions(); n != 0 {
				t.Errorf("%d subscriptions are left on %v", n, l)
			}
		}
	})
}

// toggle publishes and withdraws a broadcast at one relay of a ring so often, and returns the messages of each link.
func toggle(t *testing.T, times int, pause time.Duration) (counts []uint64) {
	inBubble(t, func(t *testing.T) {
		m := simmesh.New(t, latency, "a-b", "b-c", "c-d", "d-a")
		for range times {
			handle := local(m.Relay("a"), cam)
			time.Sleep(pause)
			handle.Withdraw()
			time.Sleep(pause)
		}
		nowhere(t, m, cam, time.Second)
		m.Quiet(5 * time.Second)
		still(t, m, time.Minute)
		for _, l := range m.Links() {
			counts = append(counts, l.Messages().Total())
		}
	})
	return counts
}

// TestTogglesInARing is report A04: announcements and withdrawals do not circle, whether the ring has time to settle
// between them or not.
func TestTogglesInARing(t *testing.T) {
	const perToggle = 4 // each end of a link announces and withdraws at most once
	for _, pause := range []time.Duration{latency / 4, 3 * latency, 10 * latency} {
		t.Run(pause.String(), func(t *testing.T) {
			few, many := toggle(t, 100, pause), toggle(t, 1000, pause)
			for i := range many {
				if many[i] > perToggle*1000 || many[i] > 11*few[i] {
					t.Errorf("link %d: %d messages for 100 toggles, %d for 1000, want at most %d for each", i, few[i], many[i], perToggle)
				}
			}
		})
	}
}

// TestOneCopyOverTheDearLinks is report A10: relays of one site share what comes over the backbone.
func TestOneCopyOverTheDearLinks(t *testing.T) {
	tests := []struct {
		name    string
		links   []string
		dear    []string
		viewers []string
	}{
		{"two relays with a link each", []string{"c-a:10", "d-a:10", "c-d"}, []string{"c-a", "d-a"}, []string{"c", "d"}},
		{"free inside", []string{"c-a:10", "d-a:10", "c-d:0"}, []string{"c-a", "d-a"}, []string{"c", "d"}},
		{"two ingresses", []string{"b-a", "c-a:10", "d-b:10", "c-d"}, []string{"c-a", "d-b"}, []string{"c", "d"}},
		{"three relays", []string{"c-a:10", "d-a:10", "e-a:10", "c-d", "d-e", "c-e"}, []string{"c-a", "d-a", "e-a"}, []string{"c", "d", "e"}},
		{"a line of three", []string{"c-a:10", "e-a:12", "c-d", "d-e"}, []string{"c-a", "e-a"}, []string{"c", "d", "e"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				m := simmesh.New(t, latency, tt.links...)
				p := m.Publish("a", cam)
				var viewers []*simmesh.Viewer
				for range 2 {
					for _, at := range tt.viewers {
						viewers = append(viewers, m.Subscribe(at, cam))
					}
				}
				time.Sleep(15 * time.Second) // moves for the sake of the price take their time
				crossed, running := uint64(0), uint64(0)
				for _, name := range tt.dear {
					crossed -= m.Link(name).Groups()
				}
				time.Sleep(5 * time.Second)
				for _, name := range tt.dear {
					crossed += m.Link(name).Groups()
					running += m.Link(name).Subscriptions()
				}
				if running != 1 || crossed < 49 || crossed > 51 {
					t.Errorf("%d copies cross the dear links, %d groups in 5s, want one and 50", running, crossed)
				}
				p.Pause()
				time.Sleep(2 * time.Second)
				for _, v := range viewers {
					if tally := v.Tally(p); len(tally.Missing) > 0 || tally.Twice > 0 || tally.Resets > 0 {
						t.Errorf("a viewer got %+v", tally)
					}
				}
			})
		})
	}
}

// TestTheWholeWayIsPriced is report A11: a near hub with a long way behind it is not nearer.
func TestTheWholeWayIsPriced(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := simmesh.New(t, latency, "hub-a:70", "d-hub:5", "d-a:40")
		p := m.Publish("a", cam)
		got := m.Subscribe("d", cam)
		time.Sleep(5 * time.Second)
		via(t, got, "a")
		unharmed(t, got, p)
	})
}

// TestLongPartition is report A15 with viewers: one of three is cut off for much longer than others are remembered, and
// its viewers go on when it is back.
func TestLongPartition(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := simmesh.New(t, latency, "a-b", "b-c", "c-a")
		p := m.Publish("a", cam)
		got, near := m.Subscribe("c", cam), m.Subscribe("b", cam)
		time.Sleep(5 * time.Second)
		m.Partition("c")
		time.Sleep(3 * peers.Sweep)
		if m.Relay("c").Lists(cam) || got.Subscribed() {
			t.Error("the relay that is cut off still lists the path")
		}
		m.Heal()
		m.AwaitLinks(20 * time.Second)
		healed := time.Now()
		time.Sleep(2 * time.Second)
		if n := got.Since(p, healed); n < 10 {
			t.Errorf("%d groups in the two seconds after the links are back", n)
		}
		m.Quiet(10 * time.Second)
		still(t, m, time.Minute)
		unharmed(t, near, p)
	})
}
