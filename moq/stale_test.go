package moq

import (
	"fmt"
	"testing"
	"time"
)

// TestStaleness holds §14.2: a group is as old as the time from where the next group
// begins to the newest frame of the newest group.
func TestStaleness(t *testing.T) {
	type frames map[uint64][]uint64 // timestamps in ms, by group
	for _, tt := range []struct {
		name   string
		groups frames
		group  uint64
		budget time.Duration
		want   bool
	}{
		{"the edge, however old", frames{0: {0, 90_000}}, 0, 0, false},
		{"nothing is kept behind the edge", frames{0: {0}, 1: {0}}, 0, 0, true},
		{"reaches to 100, edge at 199", frames{0: {0}, 1: {100, 199}}, 0, 100 * time.Millisecond, false},
		{"reaches to 100, edge at 200", frames{0: {0}, 1: {100, 200}}, 0, 100 * time.Millisecond, true},
		{"its own length does not count", frames{0: {0, 99}, 1: {100}}, 0, time.Millisecond, false},
		{"the group after a gap counts", frames{0: {0}, 5: {100}, 9: {250}}, 0, 100 * time.Millisecond, true},
		{"the next has no frame, the edge has just begun", frames{0: {0}, 1: {}, 2: {9_000}}, 0, time.Millisecond, false},
		{"the next has no frame, the edge has gone on", frames{0: {0}, 1: {}, 2: {9_000, 9_001}}, 0, time.Millisecond, true},
		{"nor have the others up to the edge", frames{0: {0}, 1: {}, 2: {}, 3: {}, 4: {100, 200}}, 0, 100 * time.Millisecond, true},
		{"one without a frame, as the next", frames{0: {}, 1: {100, 200}}, 0, 100 * time.Millisecond, true},
		{"only the newest has no frame yet", frames{0: {0}, 1: {100}, 2: {}}, 1, 0, false},
		{"time runs backwards", frames{0: {900}, 1: {800}, 2: {100}}, 0, time.Millisecond, false},
		{"no end to the budget", frames{0: {0}, 1: {100}, 2: {1 << 60}}, 0, Unlimited, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, w := newTestTrack(t, Unlimited)
			s := subscribe(t, b, SubscribeOptions{MaxAge: tt.budget})
			for n := range uint64(10) {
				if at, ok := tt.groups[n]; ok {
					g, err := w.Group(n)
					if err != nil {
						t.Fatal(err)
					}
					for _, ts := range at {
						g.WriteFrame(Frame{Timestamp: ts, Payload: fmt.Append(nil, ts)})
					}
				}
			}
			s.t.mu.Lock()
			defer s.t.mu.Unlock()
			i := indexOf(s.t.groups, tt.group)
			if got := s.staleLocked(s.t.groups[i]); got != tt.want {
				t.Errorf("stale: %v, want %v", got, tt.want)
			}
		})
	}
}

// TestLateGroups: those that come out of order are served while they are fresh, and
// above the floor.
func TestLateGroups(t *testing.T) {
	b, w := newTestTrack(t, time.Hour)
	fresh := subscribe(t, b, SubscribeOptions{MaxAge: time.Second, Start: Start{Kind: StartFresh}})
	latest := subscribe(t, b, SubscribeOptions{MaxAge: time.Second})
	one(t, w, 5, 500)
	served(fresh)
	served(latest)
	one(t, w, 3, 300)
	if got := served(fresh); len(got) != 1 || got[0] != 3 {
		t.Errorf("a late group: %v, want 3", got)
	}
	if got := served(latest); len(got) != 0 {
		t.Errorf("below the first group served: %v", got)
	}
	one(t, w, 20, 2000)
	one(t, w, 4, 400) // reaches to 500, a second and a half behind
	if got := served(fresh); len(got) != 1 || got[0] != 20 || fresh.Skipped() != (Amount{1, 1, 4}) {
		t.Errorf("served %v, skipped %+v, want 20 and one skipped", got, fresh.Skipped())
	}
}

// TestWatchersRememberPathsNotChanges: a reader that does not keep up is told where
// things stand.
func TestWatchersRememberPathsNotChanges(t *testing.T) {
	o := NewOrigin(1, NewCache(0))
	w := o.Watch("", Reader{})
	defer w.Close()
	n := join(t, o, 5)
	n.announce("x", 10_000, 5)
	for cost := range uint64(10_000) {
		n.announce("x", 9_999-cost, 5)
		n.announce("y", 0, 5)
		n.Withdraw(at, "y")
	}
	if n := w.Pending(); n != 2 {
		t.Errorf("%d changes remembered, want one for each path", n)
	}
	ev, ok := w.Next()
	if !ok || ev.Change != Started || ev.Route.Warm != 0 {
		t.Errorf("event %+v, want the start at the last price", ev)
	}
	if ev, ok := w.Next(); ok {
		t.Errorf("event %+v of a path that came and went", ev)
	}
}

// TestClosedBroadcast is scenario H2.
func TestClosedBroadcast(t *testing.T) {
	b, w := newTestTrack(t, time.Hour)
	s := subscribe(t, b, SubscribeOptions{})
	b.Close(ErrUnroutable)
	b.Close(ErrClosed) // the first reason stays
	if _, _, _, err := s.End(); err != ErrUnroutable {
		t.Errorf("a running subscription ends with %v", err)
	}
	if _, err := b.Subscribe(TrackKey{Name: "video"}, SubscribeOptions{}, nil); err != ErrUnroutable {
		t.Errorf("a new one: %v", err)
	}
	if _, err := b.Create("other", TrackInfo{}); err != ErrUnroutable {
		t.Errorf("a new track: %v", err)
	}
	if _, err := w.Group(0); err != ErrUnroutable {
		t.Errorf("a new group: %v", err)
	}
}
