package moq

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/cluster/route"
)

// neighbour is a connection whose peer announces what a test says, over a free
// link.
type neighbour struct {
	*Neighbour
	t   *testing.T
	src *fakeSource
}

// at is the time in these tests; nothing in them waits.
var at = time.Unix(1000, 0)

func join(t *testing.T, o *Origin, hop uint64) neighbour {
	l := route.Link{ID: hop, Own: route.PriceOf(0), Stamp: 1 << 40, Trusted: true}
	return neighbour{o.Join(at, l), t, &fakeSource{}}
}

// announce offers a path at a price, over hops and the neighbour itself.
func (n neighbour) announce(path string, cost uint64, hops ...uint64) {
	n.Announce(at, path, n.src, route.Route{Hops: hops, Warm: cost, Cold: cost})
}

func TestFind(t *testing.T) {
	o := NewOrigin(99, NewCache(0))
	join(t, o, 1).announce("room", 0, 1)
	join(t, o, 2).announce("room/cam", 0, 2)
	for _, tt := range []struct {
		path   string
		reader Reader
		from   string // the announced path that serves; "" = none
		suffix string
	}{
		{"room/cam", Reader{}, "room/cam", ""},
		{"room/cam/hd", Reader{}, "room/cam", "hd"},
		{"room/mic", Reader{}, "room", "mic"},
		{"room/cam", Reader{ID: 2}, "room", "cam"}, // not back through 2
		{"roommate", Reader{}, "", ""},
		{"room", Reader{ID: 1}, "", ""},
	} {
		var want *Broadcast
		if tt.from != "" {
			want, _, _ = o.Find(tt.from, Reader{})
		}
		got, suffix, err := o.Find(tt.path, tt.reader)
		if got != want || suffix != tt.suffix || (err == nil) != (want != nil) {
			t.Errorf("Find(%q, %+v) = %p, %q, %v, want %p, %q", tt.path, tt.reader, got, suffix, err, want, tt.suffix)
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
	a, x := join(t, o, 5), join(t, o, 1)
	a.announce("room/b", 3, 1, 5)
	for _, path := range []string{"room/a", "room/.hidden", "roommate"} {
		x.announce(path, 0, 1)
	}
	w := o.Watch("room", Reader{})
	defer w.Close()
	step := func(what string, want ...string) {
		t.Helper()
		o.Advance(o.now.Add(time.Minute)) // past every hold
		if diff := cmp.Diff(want, events(w)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	step("initial set, sorted", "+a", "+b")
	a.announce("room/b", 3, 1, 5)
	step("nothing new")
	a.announce("room/b", 2, 1, 5)
	step("price", "=b")
	second := join(t, o, 6)
	second.announce("room/b", 1, 1, 6)
	step("another way to the same publisher", "=b")
	second.Withdraw(at, "room/b")
	step("and back", "=b")
	third := join(t, o, 2)
	third.announce("room/b", 0, 2)
	step("another publisher", "!b")
	third.Withdraw(at, "room/b")
	a.Withdraw(at, "room/b")
	step("gone", "-b")
	x.announce("room/x", 0, 1)
	x.Withdraw(at, "room/x")
	step("came and went unseen")
	x.Withdraw(at, "room/a")
	x.announce("room/a", 0, 1)
	step("withdrawn and announced anew between two looks", "!a")
	toThemselves := o.Watch("", Reader{ID: 1})
	defer toThemselves.Close()
	if got := events(toThemselves); got != nil {
		t.Errorf("hop 1 is told %v of what came through it", got)
	}
}

// TestHopBudget: a route without room for our own hop is used here and not passed on.
func TestHopBudget(t *testing.T) {
	o := NewOrigin(99, NewCache(0))
	join(t, o, 3).announce("x", 0, 1, 2, 3)
	w := o.Watch("", Reader{MaxHops: 3})
	defer w.Close()
	if got := events(w); got != nil {
		t.Errorf("told %v, want nothing", got)
	}
	if _, _, err := o.Find("x", Reader{MaxHops: 3}); err != nil {
		t.Errorf("not usable here: %v", err)
	}
}

// TestRouteChangeMovesTheBroadcast: a cheaper way to the same publisher feeds the
// same broadcast; the way back is taken when it breaks.
func TestRouteChangeMovesTheBroadcast(t *testing.T) {
	o := NewOrigin(99, NewCache(0))
	dear, cheap := join(t, o, 5), join(t, o, 6)
	dear.announce("x", 9, 1, 5)
	b, _, _ := o.Find("x", Reader{})
	s, err := b.Subscribe(TrackKey{Name: "v"}, SubscribeOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cheap.announce("x", 1, 1, 6)
	if after, _, _ := o.Find("x", Reader{}); after != b {
		t.Error("another broadcast for the same publisher")
	}
	if len(cheap.src.opened) != 1 {
		t.Errorf("the cheaper way was asked %d times, want once", len(cheap.src.opened))
	}
	cheap.src.opened[0].Lose(ErrClosed)
	cheap.Leave(at)
	if len(dear.src.opened) != 1 {
		t.Errorf("the dear way was asked %d times, though it was never let go", len(dear.src.opened))
	}
	dear.src.opened[0].Lose(ErrClosed)
	dear.Leave(at)
	if _, _, _, err := s.End(); err != ErrClosed {
		t.Errorf("without a way the subscription ends with %v, want %v", err, ErrClosed)
	}
	if len(o.names) != 0 || o.Len() != 0 {
		t.Errorf("%d names are left", len(o.names))
	}
}

// TestAnotherPublisherEndsWhatRuns is moq-lite.md §14.6, and field report A14: the
// dead session of a publisher that was replaced holds nobody.
func TestAnotherPublisherEndsWhatRuns(t *testing.T) {
	o := NewOrigin(99, NewCache(0))
	join(t, o, 1).announce("x", 1, 1)
	b, _, _ := o.Find("x", Reader{})
	s, err := b.Subscribe(TrackKey{Name: "v"}, SubscribeOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	join(t, o, 2).announce("x", 0, 2)
	if _, _, _, err := s.End(); err != ErrUnroutable {
		t.Errorf("the subscription ends with %v, want %v", err, ErrUnroutable)
	}
	if after, _, _ := o.Find("x", Reader{}); after == b {
		t.Error("the new publisher's content goes into the old one's broadcast")
	}
}

// TestAwait: a reader that our route runs through is served once we have another.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := NewOrigin(99, NewCache(0))
		through, around := join(t, o, 5), join(t, o, 6)
		through.announce("x", 0, 1, 5)
		five := Reader{ID: 5}
		if _, _, err := o.Await(t.Context(), "x", five); err != ErrUnroutable {
			t.Errorf("without another way: %v, want %v at once", err, ErrUnroutable)
		}
		around.announce("x", 7, 1, 6)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := o.Await(ctx, "x", five); err != ErrUnroutable || ctx.Err() == nil {
			t.Errorf("our route stays: %v, want %v at the deadline", err, ErrUnroutable)
		}
		time.AfterFunc(time.Second, func() { through.Withdraw(at, "x") })
		if b, _, err := o.Await(t.Context(), "x", five); b == nil {
			t.Errorf("our route has moved: %v", err)
		}
	})
}

// TestCarriedCostsNothing: while somebody reads a broadcast it is offered at no
// warm cost, and for 5 s more; a standby of our own likewise.
func TestCarriedCostsNothing(t *testing.T) {
	o := NewOrigin(99, NewCache(0))
	b := NewBroadcast(o.Cache(), nil)
	b.Create("v", TrackInfo{})
	o.PublishAt("x", b, 1000)
	w := o.Watch("", Reader{})
	defer w.Close()
	step := func(what string, now time.Time, warm uint64, news bool) {
		t.Helper()
		o.Advance(now)
		ev, ok := w.Next()
		if ok != news || ok && (ev.Route.Warm != warm || ev.Route.Cold != 1000) {
			t.Errorf("%s: told %v, %d/%d, want %v, %d/1000", what, ok, ev.Route.Warm, ev.Route.Cold, news, warm)
		}
	}
	step("nobody reads", at, 1000, true)
	s, _ := b.Subscribe(TrackKey{Name: "v"}, SubscribeOptions{}, nil)
	step("somebody does", at, 0, true)
	s.Close()
	step("has left", at, 0, false)
	step("less than 5 s ago", at.Add(4900*time.Millisecond), 0, false)
	step("longer ago: a rise is held back", at.Add(5*time.Second), 0, false)
	step("and has lasted", at.Add(5300*time.Millisecond), 1000, true)
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
	a, b := join(t, o, 1), join(t, o, 2)
	a.announce("room", 0, 1)
	outer, _, _ := o.Find("room", Reader{})
	allow := func(path string) bool { return path == "room/cam" }
	w := o.Watch("room/cam", Reader{Allow: allow})
	defer w.Close()
	ev, ok := w.Next()
	if !ok || ev.Path != "room/cam" || ev.Suffix != "" || ev.Broadcast != outer || ev.Below != "cam" {
		t.Errorf("event %+v, %v, want room/cam, served by room", ev, ok)
	}
	b.announce("room/cam", 0, 2)
	inner, _, _ := o.Find("room/cam", Reader{})
	if ev, ok = w.Next(); !ok || ev.Change != Replaced || ev.Broadcast != inner || ev.Below != "" {
		t.Errorf("event %+v, %v, want the deeper path to replace it", ev, ok)
	}
	a.announce("room", 3, 1)
	if ev, ok = w.Next(); ok {
		t.Errorf("event %+v though the deeper path serves", ev)
	}
	b.Withdraw(at, "room/cam")
	if ev, ok = w.Next(); !ok || ev.Change != Replaced || ev.Broadcast != outer {
		t.Errorf("event %+v, %v, want room again", ev, ok)
	}
	a.Withdraw(at, "room")
	if ev, ok = w.Next(); !ok || ev.Change != Ended {
		t.Errorf("event %+v, %v, want the end", ev, ok)
	}
	a.announce("roo", 0, 1)
	if ev, ok = w.Next(); ok {
		t.Errorf("event %+v for a path that is no parent", ev)
	}
	denied := o.Watch("room/mic", Reader{Allow: allow})
	defer denied.Close()
	a.announce("room", 0, 1)
	if ev, ok = denied.Next(); ok {
		t.Errorf("event %+v outside what is allowed", ev)
	}
}
