package moq

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

func announce(o *Origin, path string, r Route) (*Broadcast, *Announcement) {
	b := NewBroadcast(o.Cache(), nil)
	return b, o.Announce(path, b, r)
}

// TestSelectionOrder goes through §15.2 key by key: in each row a wins.
func TestSelectionOrder(t *testing.T) {
	for _, tt := range []struct {
		name string
		a, b Route
	}{
		{"identified first", Route{Hops: []uint64{1, 2, 3}, Warm: 9, Cold: 9, Via: 3}, Route{Hops: []uint64{5, 0}, Via: 4}},
		{"cheaper", Route{Hops: []uint64{1, 2, 3}, Warm: 1, Cold: 9, Via: 3}, Route{Hops: []uint64{1}, Warm: 2, Cold: 2, Via: 1}},
		{"colder", Route{Hops: []uint64{1, 2, 3}, Warm: 1, Cold: 1, Via: 3}, Route{Hops: []uint64{1}, Warm: 1, Cold: 2, Via: 1}},
		{"published here", Route{Warm: 1, Cold: 1}, Route{Hops: []uint64{1}, Warm: 1, Cold: 1, Via: 1}},
		{"shorter", Route{Hops: []uint64{1, 2}, Via: 2}, Route{Hops: []uint64{1, 2, 3}, Via: 3}},
		// The vectors' demo/1 elects 10, demo/0 elects 20.
		{"hash", Route{Hops: []uint64{1, 10}, Via: 10, Peer: true}, Route{Hops: []uint64{1, 20}, Via: 20, Peer: true}},
	} {
		for _, first := range []bool{true, false} {
			o := NewOrigin(99, NewCache(0))
			routes := []Route{tt.a, tt.b}
			if !first {
				routes[0], routes[1] = routes[1], routes[0]
			}
			for _, r := range routes {
				announce(o, "demo/1", r)
			}
			if got := o.names["demo/1"][0].route; !cmp.Equal(got, tt.a) {
				t.Errorf("%s: chosen %+v", tt.name, got)
			}
		}
	}
	o := NewOrigin(99, NewCache(0))
	announce(o, "x", Route{Hops: []uint64{1}, Via: 1})
	newest, _ := announce(o, "x", Route{Hops: []uint64{2}, Via: 2})
	if got := o.names["x"][0].broadcast; got != newest {
		t.Error("between equals the newest is not chosen")
	}
}

func TestFind(t *testing.T) {
	o := NewOrigin(99, NewCache(0))
	room, _ := announce(o, "room", Route{Hops: []uint64{1}, Via: 1})
	cam, _ := announce(o, "room/cam", Route{Hops: []uint64{2}, Via: 2})
	for _, tt := range []struct {
		path   string
		reader Reader
		want   *Broadcast
		suffix string
	}{
		{"room/cam", Reader{}, cam, ""},
		{"room/cam/hd", Reader{}, cam, "hd"},
		{"room/mic", Reader{}, room, "mic"},
		{"room/cam", Reader{ID: 2}, room, "cam"}, // not back through 2
		{"roommate", Reader{}, nil, ""},
		{"room", Reader{ID: 1}, nil, ""},
	} {
		got, suffix, err := o.Find(tt.path, tt.reader)
		if got != tt.want || suffix != tt.suffix || (err == nil) != (tt.want != nil) {
			t.Errorf("Find(%q, %+v) = %p, %q, %v, want %p, %q", tt.path, tt.reader, got, suffix, err, tt.want, tt.suffix)
		}
	}
}

func events(w *Watcher) (list []string) {
	names := map[Change]string{Started: "+", Updated: "=", Replaced: "!", Ended: "-"}
	for ev, ok := w.Next(); ok; ev, ok = w.Next() {
		list = append(list, names[ev.Change]+ev.Suffix)
	}
	return list
}

func TestWatcher(t *testing.T) {
	o := NewOrigin(99, NewCache(0))
	_, a := announce(o, "room/b", Route{Hops: []uint64{1, 5}, Via: 5})
	announce(o, "room/a", Route{Hops: []uint64{1}, Via: 1})
	announce(o, "room/.hidden", Route{Hops: []uint64{1}, Via: 1})
	announce(o, "roommate", Route{Hops: []uint64{1}, Via: 1})
	w := o.Watch("room", Reader{})
	defer w.Close()
	step := func(what string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, events(w)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	step("initial set, sorted", "+a", "+b")
	a.Update(Route{Hops: []uint64{1, 5}, Via: 5})
	step("nothing new")
	a.Update(Route{Hops: []uint64{1, 5}, Via: 5, Warm: 3})
	step("price", "=b")
	_, second := announce(o, "room/b", Route{Hops: []uint64{1, 6}, Via: 6})
	step("another way to the same publisher", "=b")
	second.Withdraw()
	step("and back", "=b")
	_, third := announce(o, "room/b", Route{Hops: []uint64{2}, Via: 2})
	step("another publisher", "!b")
	third.Withdraw()
	a.Withdraw()
	step("gone", "-b")
	_, x := announce(o, "room/x", Route{Hops: []uint64{1}, Via: 1})
	x.Withdraw()
	step("came and went unseen")
	toThemselves := o.Watch("", Reader{ID: 1})
	defer toThemselves.Close()
	if got := events(toThemselves); got != nil {
		t.Errorf("hop 1 is told %v of what came through it", got)
	}
}

// TestHopBudget: a route without room for our own hop is used here and not passed on.
func TestHopBudget(t *testing.T) {
	o := NewOrigin(99, NewCache(0))
	announce(o, "x", Route{Hops: []uint64{1, 2, 3}, Via: 3})
	w := o.Watch("", Reader{MaxHops: 3})
	defer w.Close()
	if got := events(w); got != nil {
		t.Errorf("told %v, want nothing", got)
	}
	if _, _, err := o.Find("x", Reader{MaxHops: 3}); err != nil {
		t.Errorf("not usable here: %v", err)
	}
}

// fakeSource counts what it is asked for.
type fakeSource struct {
	opened    []*TrackWriter
	fetched   []*GroupWriter
	cancelled int
}

func (f *fakeSource) Open(w *TrackWriter) { f.opened = append(f.opened, w) }

func (f *fakeSource) Fetch(_ TrackKey, g *GroupWriter, _ uint64, _ uint8) func() {
	f.fetched = append(f.fetched, g)
	return func() { f.cancelled++ }
}

// TestSingleFlight: however many ask, the source is asked once (A22).
func TestSingleFlight(t *testing.T) {
	src := &fakeSource{}
	b := NewBroadcast(NewCache(0), src)
	for range 5 {
		s, err := b.Subscribe(TrackKey{Name: "v"}, SubscribeOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	if len(src.opened) != 1 {
		t.Fatalf("opened %d times", len(src.opened))
	}
	if !src.opened[0].Release() {
		t.Error("a track that nobody holds is not released")
	}
	held, err := b.Hold(TrackKey{Name: "v"})
	if err != nil || len(src.opened) != 2 {
		t.Fatalf("after the release: opened %d times, %v", len(src.opened), err)
	}
	if src.opened[1].Release() {
		t.Error("a held track is released")
	}
	held.Drop()
}

// TestFetch: joined by all, cancelled with the last, never kept cut (H6).
func TestFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &fakeSource{}
		b := NewBroadcast(NewCache(0), src)
		track, err := b.Hold(TrackKey{Name: "v"})
		if err != nil {
			t.Fatal(err)
		}
		defer track.Drop()
		a, err := track.Fetch(t.Context(), 3, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		c, _ := track.Fetch(t.Context(), 3, 0, 0)
		if len(src.fetched) != 1 {
			t.Fatalf("fetched %d times", len(src.fetched))
		}
		a.Close()
		if src.cancelled != 0 {
			t.Error("cancelled while somebody waits")
		}
		src.fetched[0].WriteFrame(Frame{Payload: []byte("half")})
		c.Close()
		if src.cancelled != 1 {
			t.Error("not cancelled with the last reader")
		}
		again, _ := track.Fetch(t.Context(), 3, 0, 0)
		if len(src.fetched) != 2 {
			t.Fatal("a cut group is served as whole")
		}
		go func() {
			src.fetched[1].WriteFrame(Frame{Payload: []byte("whole")})
			src.fetched[1].Close()
		}()
		f, ok, err := again.ReadFrame(t.Context())
		if string(f.Payload) != "whole" || !ok || err != nil {
			t.Errorf("frame %q, %v, %v", f.Payload, ok, err)
		}
		again.Close()
		cached, _ := track.Fetch(t.Context(), 3, 0, 0)
		if len(src.fetched) != 2 {
			t.Error("a whole group is fetched again")
		}
		cached.Close()
		missing, _ := track.Fetch(t.Context(), 4, 0, 0)
		src.fetched[2].Abort(ErrNotFound)
		if _, _, err := missing.ReadFrame(t.Context()); !errors.Is(err, ErrNotFound) {
			t.Errorf("missing group: %v", err)
		}
	})
}

// TestBlockedReaderWakes: a reader that waits sees the end of its track.
func TestBlockedReaderWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, w := newTestTrack(t, 0)
		s := subscribe(t, b, SubscribeOptions{})
		done := make(chan error, 1)
		go func() {
			_, ok, err := s.NextGroup(context.Background())
			if ok {
				err = errors.New("a group")
			}
			done <- err
		}()
		synctest.Wait()
		w.Abort(ErrCancelled)
		if err := <-done; !errors.Is(err, ErrCancelled) {
			t.Errorf("NextGroup: %v", err)
		}
	})
}

// TestWatchInsideABroadcast: who watches a prefix inside an announced path is told of
// that path, as the prefix itself (§6.5).
func TestWatchInsideABroadcast(t *testing.T) {
	o := NewOrigin(99, NewCache(0))
	outer, a := announce(o, "room", Route{Hops: []uint64{1}, Via: 1})
	allow := func(path string) bool { return path == "room/cam" }
	w := o.Watch("room/cam", Reader{Allow: allow})
	defer w.Close()
	ev, ok := w.Next()
	if !ok || ev.Path != "room/cam" || ev.Suffix != "" || ev.Broadcast != outer || ev.Below != "cam" {
		t.Errorf("event %+v, %v, want room/cam, served by room", ev, ok)
	}
	inner, b := announce(o, "room/cam", Route{Hops: []uint64{2}, Via: 2})
	if ev, ok = w.Next(); !ok || ev.Change != Replaced || ev.Broadcast != inner || ev.Below != "" {
		t.Errorf("event %+v, %v, want the deeper path to replace it", ev, ok)
	}
	a.Update(Route{Hops: []uint64{1}, Via: 1, Warm: 3})
	if ev, ok = w.Next(); ok {
		t.Errorf("event %+v though the deeper path serves", ev)
	}
	b.Withdraw()
	if ev, ok = w.Next(); !ok || ev.Change != Replaced || ev.Broadcast != outer {
		t.Errorf("event %+v, %v, want room again", ev, ok)
	}
	a.Withdraw()
	if ev, ok = w.Next(); !ok || ev.Change != Ended {
		t.Errorf("event %+v, %v, want the end", ev, ok)
	}
	announce(o, "roo", Route{Hops: []uint64{1}, Via: 1})
	if ev, ok = w.Next(); ok {
		t.Errorf("event %+v for a path that is no parent", ev)
	}
	denied := o.Watch("room/mic", Reader{Allow: allow})
	defer denied.Close()
	announce(o, "room", Route{Hops: []uint64{1}, Via: 1})
	if ev, ok = denied.Next(); ok {
		t.Errorf("event %+v outside what is allowed", ev)
	}
}
