package moq

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestFetchFromEarlierFrame: who asks for more of a group does not cut those who
// asked for less.
func TestFetchFromEarlierFrame(t *testing.T) {
	src := &fakeSource{}
	b := NewBroadcast(NewCache(0), src)
	track, err := b.Hold(TrackKey{Name: "v"})
	if err != nil {
		t.Fatal(err)
	}
	defer track.Drop()
	tail, _ := track.Fetch(t.Context(), 7, 5, 0)
	whole, _ := track.Fetch(t.Context(), 7, 0, 0)
	if len(src.fetched) != 2 {
		t.Fatalf("fetched %d times, want 2", len(src.fetched))
	}
	for i, r := range []*Fetched{tail, whole} {
		src.fetched[i].WriteFrame(Frame{Payload: []byte{byte(i)}})
		src.fetched[i].Close()
		if f, ok, err := r.ReadFrame(t.Context()); !ok || err != nil || f.Payload[0] != byte(i) {
			t.Errorf("fetch %d: %v, %v, %v", i, f, ok, err)
		}
		r.Close()
	}
	if again, _ := track.Fetch(t.Context(), 7, 5, 0); len(src.fetched) != 2 {
		t.Error("what is here from its head on is fetched again")
	} else {
		again.Close()
	}
	b.Close(ErrClosed)
}

// feedSource cannot fetch.
type feedSource struct{ fakeSource }

func (f *feedSource) Fetch(TrackKey, *GroupWriter, uint64, uint8) func() { return nil }

// TestFetchFromFeed: where the source cannot fetch, the live feed serves (H7).
func TestFetchFromFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &feedSource{}
		b := NewBroadcast(NewCache(0), src)
		s := subscribe(t, b, SubscribeOptions{})
		got := make(chan error, 1)
		fetch := func(sequence uint64) {
			f, err := s.Track().Fetch(context.Background(), sequence, 0, 0)
			if err == nil {
				f.Close()
			}
			got <- err
		}
		go fetch(2)
		synctest.Wait()
		if len(got) > 0 {
			t.Fatal("a fetch that comes with the first subscription does not wait for the feed")
		}
		w := src.opened[0]
		one(t, w, 2, 0)
		if err := <-got; err != nil {
			t.Errorf("live group: %v", err)
		}
		for _, missing := range []uint64{1, 3} {
			go fetch(missing)
			if err := <-got; !errors.Is(err, ErrNotFound) {
				t.Errorf("group %d: %v, want not found", missing, err)
			}
		}
	})
}

// TestFetchOfADeadTrack: there is nothing to wait for.
func TestFetchOfADeadTrack(t *testing.T) {
	src := &fakeSource{}
	b := NewBroadcast(NewCache(0), src)
	track, err := b.Hold(TrackKey{Name: "v"})
	if err != nil {
		t.Fatal(err)
	}
	running, _ := track.Fetch(t.Context(), 1, 0, 0)
	src.opened[0].Abort(ErrTimeout)
	if _, _, err := running.ReadFrame(t.Context()); !errors.Is(err, ErrTimeout) {
		t.Errorf("fetch under way: %v, want the track's end", err)
	}
	running.Close()
	if src.cancelled != 1 {
		t.Error("the source goes on fetching for nobody")
	}
	late, _ := track.Fetch(t.Context(), 1, 0, 0)
	if _, _, err := late.ReadFrame(t.Context()); !errors.Is(err, ErrNotFound) {
		t.Errorf("fetch after the end: %v", err)
	}
	if len(src.fetched) != 1 {
		t.Error("a dead track is fetched from")
	}
}

// TestFetchKeepsTheFeed: who fetches the group that is being written keeps the feed
// running when the last subscriber leaves.
func TestFetchKeepsTheFeed(t *testing.T) {
	src := &fakeSource{}
	b := NewBroadcast(NewCache(0), src)
	s := subscribe(t, b, SubscribeOptions{Priority: 7, MaxAge: time.Second})
	w := src.opened[0]
	w.SetInfo(TrackInfo{MaxAge: time.Minute, Timescale: 1000})
	g, err := w.Group(3)
	if err != nil {
		t.Fatal(err)
	}
	g.WriteFrame(Frame{Payload: []byte("a")})
	f, err := s.Track().Fetch(t.Context(), 3, 0, 0)
	if err != nil || len(src.fetched) != 0 {
		t.Fatalf("fetch of a live group: %v, %d fetches", err, len(src.fetched))
	}
	s.Close()
	d, _ := w.Demand()
	if want := (Demand{Subscribers: 1, Holders: 1, Priority: 7, MaxAge: time.Second}); d != want {
		t.Errorf("demand of a fetch: %+v, want %+v", d, want)
	}
	f.Close()
	if d, _ := w.Demand(); d.Subscribers != 0 || d.Holders != 0 {
		t.Errorf("demand after all: %+v", d)
	}
}
