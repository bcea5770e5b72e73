package moq

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// newTestTrack is a track of ours: timestamps in milliseconds.
func newTestTrack(t *testing.T, maxAge time.Duration) (*Broadcast, *TrackWriter) {
	t.Helper()
	b := NewBroadcast(NewCache(0), nil)
	w, err := b.Create("video", TrackInfo{MaxAge: maxAge, Timescale: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return b, w
}

func subscribe(t *testing.T, b *Broadcast, o SubscribeOptions) *Subscription {
	t.Helper()
	s, err := b.Subscribe(TrackKey{Name: "video"}, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// one writes a group of one frame whose payload is its sequence.
func one(t *testing.T, w *TrackWriter, sequence, timestamp uint64) {
	t.Helper()
	if err := w.WriteGroup(sequence, Frame{Timestamp: timestamp, Payload: fmt.Append(nil, sequence)}); err != nil {
		t.Fatalf("group %d: %v", sequence, err)
	}
}

// served are the sequences that a subscription hands out now.
func served(s *Subscription) []uint64 {
	list := []uint64{}
	for r, ok := s.Next(); ok; r, ok = s.Next() {
		list = append(list, r.Sequence())
	}
	return list
}

func TestStartRules(t *testing.T) {
	for _, tt := range []struct {
		name  string
		opts  SubscribeOptions
		first []uint64 // of groups 0 to 4 at 0, 1000 … 4000 ms
		then  []uint64 // after groups 2 (late) and 6
	}{
		{"latest", SubscribeOptions{MaxAge: Unlimited}, []uint64{4}, []uint64{6}},
		{"latest, live edge only", SubscribeOptions{}, []uint64{4}, []uint64{6}},
		{"fresh, all", SubscribeOptions{MaxAge: Unlimited, Start: Start{Kind: StartFresh}}, []uint64{0, 1, 3, 4}, []uint64{2, 6}},
		// Group 3 reaches to 4000, the edge: its age is 0. Group 1 reaches to 3000.
		{"fresh, 1.5 s", SubscribeOptions{MaxAge: 1500 * time.Millisecond, Start: Start{Kind: StartFresh}}, []uint64{1, 3, 4}, []uint64{6}},
		{"fresh, live edge only", SubscribeOptions{Start: Start{Kind: StartFresh}}, []uint64{4}, []uint64{6}},
		{"at 3", SubscribeOptions{MaxAge: Unlimited, Start: Start{Kind: StartAt, Group: 3}}, []uint64{3, 4}, []uint64{6}},
		{"at 9", SubscribeOptions{MaxAge: Unlimited, Start: Start{Kind: StartAt, Group: 9}}, []uint64{}, []uint64{}},
		{"up to 3", SubscribeOptions{MaxAge: Unlimited, Start: Start{Kind: StartFresh}, End: Limit{Set: true, V: 3}}, []uint64{0, 1, 3}, []uint64{2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, w := newTestTrack(t, time.Hour)
			for _, n := range []uint64{0, 1, 3, 4} {
				one(t, w, n, n*1000)
			}
			s := subscribe(t, b, tt.opts)
			if diff := cmp.Diff(tt.first, served(s)); diff != "" {
				t.Errorf("at first (-want +got):\n%s", diff)
			}
			one(t, w, 2, 2000)
			one(t, w, 6, 6000)
			if diff := cmp.Diff(tt.then, served(s)); diff != "" {
				t.Errorf("then (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEndPauses: a group end parks what is above it until it is raised (§8.2).
func TestEndPauses(t *testing.T) {
	b, w := newTestTrack(t, time.Hour)
	o := SubscribeOptions{MaxAge: Unlimited, Start: Start{Kind: StartFresh}, End: Limit{Set: true, V: 1}}
	s := subscribe(t, b, o)
	for n := range uint64(4) {
		one(t, w, n, n)
	}
	w.Finish()
	if diff := cmp.Diff([]uint64{0, 1}, served(s)); diff != "" {
		t.Errorf("under the cap (-want +got):\n%s", diff)
	}
	if _, _, complete, _ := s.End(); complete {
		t.Error("complete while groups are parked")
	}
	o.End.V = 2
	s.Update(o)
	if diff := cmp.Diff([]uint64{2}, served(s)); diff != "" {
		t.Errorf("cap raised (-want +got):\n%s", diff)
	}
	o.End = Limit{}
	s.Update(o)
	if diff := cmp.Diff([]uint64{3}, served(s)); diff != "" {
		t.Errorf("cap gone (-want +got):\n%s", diff)
	}
	if end, known, complete, err := s.End(); end != 4 || !known || !complete || err != nil {
		t.Errorf("End() = %d, %v, %v, %v, want 4, true, true, nil", end, known, complete, err)
	}
}

// TestParkedGroupsThatAreGone: what was dropped while it waited above the end does
// not hold up the end of the track.
func TestParkedGroupsThatAreGone(t *testing.T) {
	b, w := newTestTrack(t, 100*time.Millisecond)
	o := SubscribeOptions{MaxAge: Unlimited, Start: Start{Kind: StartFresh}, End: Limit{Set: true, V: 0}}
	s := subscribe(t, b, o)
	one(t, w, 0, 0)
	one(t, w, 1, 100)
	served(s)
	one(t, w, 2, 200)
	one(t, w, 3, 300) // drops group 1
	served(s)
	w.Finish()
	b.Close(ErrClosed)
	b.cache.Advance(time.Unix(1, 0).Add(CacheExpiry)) // drops the others
	if s := b.cache.Stats(); s.Groups != 0 {
		t.Fatalf("%d groups left", s.Groups)
	}
	if _, _, complete, err := s.End(); !complete || err != nil {
		t.Errorf("complete %v, %v, want the end", complete, err)
	}
}

// TestTrackKeepsItsAge: groups behind the edge by the track's own age are dropped,
// and their readers are told.
func TestTrackKeepsItsAge(t *testing.T) {
	b, w := newTestTrack(t, 2*time.Second)
	s := subscribe(t, b, SubscribeOptions{MaxAge: Unlimited, Start: Start{Kind: StartFresh}})
	one(t, w, 0, 0)
	r, ok := s.Next()
	if !ok {
		t.Fatal("no group")
	}
	for n := uint64(1); n <= 3; n++ {
		one(t, w, n, n*1000)
	}
	if _, state, err := r.Raw(); state != Aborted || err != ErrExpired {
		t.Errorf("group 0 is %v, %v, want expired", state, err)
	}
	if got := b.cache.Stats().Groups; got != 3 {
		t.Errorf("%d groups kept, want 3", got)
	}
}

func TestReadersOfAllDialects(t *testing.T) {
	b, w := newTestTrack(t, time.Hour)
	s := subscribe(t, b, SubscribeOptions{MaxAge: Unlimited})
	g, err := w.Group(7)
	if err != nil {
		t.Fatal(err)
	}
	g.BeginFrame(1000, 5)
	g.Write([]byte("he"))
	g.Flush()
	raw, ok := s.Next()
	if !ok {
		t.Fatal("no group")
	}
	parts := raw
	run, state, err := raw.Raw()
	if want := "\x47\xd0\x05he"; string(run) != want || state != Open || err != nil {
		t.Errorf("Raw() = %x, %v, %v, want %x", run, state, err, want)
	}
	p, _, ok, _ := parts.Next()
	want := Part{Start: true, Timestamp: 1000, Size: 5, Payload: []byte("he")}
	if diff := cmp.Diff(want, p); !ok || diff != "" {
		t.Errorf("Next() (-want +got):\n%s", diff)
	}
	if _, _, ok, _ := parts.Next(); ok {
		t.Error("Next() has something while the frame is not complete")
	}
	g.Write([]byte("llo"))
	g.BeginFrame(990, 0)
	g.Close()
	var rest []byte
	for state = Open; state == Open; { // a run ends where a chunk does
		run, state, _ = raw.Raw()
		rest = append(rest, run...)
	}
	if want := "llo\x13\x00"; string(rest) != want || state != Done {
		t.Errorf("Raw() = %x, %v, want %x, done", rest, state, want)
	}
	p, _, _, _ = parts.Next()
	if string(p.Payload) != "llo" || p.Start {
		t.Errorf("Next() = %+v, want the rest", p)
	}
	p, _, _, _ = parts.Next()
	if !p.Start || p.Previous != 1000 || p.Timestamp != 990 || p.Index != 1 {
		t.Errorf("Next() = %+v, want frame 1 after 1000", p)
	}
	if _, state, ok, _ := parts.Next(); ok || state != Done {
		t.Errorf("at the end: %v, %v", ok, state)
	}
}

// TestWaitForTheRestOfAFrame: a reader of raw bytes wakes for each piece.
func TestWaitForTheRestOfAFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, w := newTestTrack(t, time.Hour)
		s := subscribe(t, b, SubscribeOptions{})
		g, _ := w.Group(0)
		g.BeginFrame(0, 2)
		g.Write([]byte("a"))
		g.Flush()
		r, _ := s.Next()
		r.Raw()
		woken := make(chan error, 1)
		go func() { woken <- r.Wait(context.Background()) }()
		synctest.Wait()
		if len(woken) > 0 {
			t.Error("woken for nothing")
		}
		g.Write([]byte("b"))
		g.Flush()
		synctest.Wait()
		if len(woken) == 0 {
			t.Error("not woken")
		}
		if run, _, _ := r.Raw(); string(run) != "b" {
			t.Errorf("Raw() = %q, want b", run)
		}
		g.Close()
		<-woken
	})
}

func TestGroupWriterRefuses(t *testing.T) {
	_, w := newTestTrack(t, time.Hour)
	g, _ := w.Group(0)
	if err := g.BeginFrame(1<<62, 1); err != ErrTimestamp {
		t.Errorf("timestamp 2^62: %v", err)
	}
	if err := g.BeginFrame(0, MaxFrame+1); err != ErrFrameTooLarge {
		t.Errorf("large frame: %v", err)
	}
	if err := g.BeginFrame(0, 3); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Write([]byte("four")); err != ErrWrongSize {
		t.Errorf("overrun: %v", err)
	}
	if err := g.Close(); err != ErrWrongSize {
		t.Errorf("close in the middle of a frame: %v", err)
	}
	if _, err := w.Group(0); err != nil {
		t.Errorf("an aborted group again: %v", err)
	}
	if _, err := w.Group(0); err != ErrDuplicate {
		t.Errorf("a live group again: %v", err)
	}
}

// TestClaimsDoNotAllocate: what a peer declares costs nothing until it comes.
func TestClaimsDoNotAllocate(t *testing.T) {
	b, w := newTestTrack(t, time.Hour)
	g, _ := w.Group(0)
	if err := g.BeginFrame(0, 30<<20); err != nil {
		t.Fatal(err)
	}
	g.Write([]byte("x"))
	g.Flush()
	if used := b.cache.Stats().Used; used > 4<<10 {
		t.Errorf("%d bytes held after one byte of a frame of 30 MiB", used)
	}
}

// TestDatagrams: the newest 64 wait, numbers are kept.
func TestDatagrams(t *testing.T) {
	b, w := newTestTrack(t, time.Hour)
	s := subscribe(t, b, SubscribeOptions{})
	for n := range uint64(70) {
		w.WriteDatagram(Datagram{Sequence: n * 2})
	}
	var got []uint64
	for d, ok := s.NextDatagram(); ok; d, ok = s.NextDatagram() {
		got = append(got, d.Sequence)
	}
	if len(got) != 64 || got[0] != 12 || got[63] != 138 {
		t.Errorf("%d datagrams from %v, want the newest 64", len(got), got[:1])
	}
}

func TestDemandIsTheSum(t *testing.T) {
	b, w := newTestTrack(t, 3*time.Second)
	a := subscribe(t, b, SubscribeOptions{Priority: 2, MaxAge: time.Second, Start: Start{Kind: StartAt, Group: 9}, End: Limit{Set: true, V: 20}})
	subscribe(t, b, SubscribeOptions{Priority: 7, MaxAge: time.Minute, Start: Start{Kind: StartAt, Group: 4}, End: Limit{Set: true, V: 30}})
	got, changed := w.Demand()
	want := Demand{Subscribers: 2, Holders: 2, Priority: 7, MaxAge: 3 * time.Second, Start: Start{Kind: StartAt, Group: 4}, End: Limit{Set: true, V: 30}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("demand (-want +got):\n%s", diff)
	}
	select {
	case <-changed:
	default:
		t.Error("no token for the change")
	}
	a.Update(SubscribeOptions{})
	if got, _ := w.Demand(); got.End.Set || got.Start.Kind != StartLatest {
		t.Errorf("an open subscriber leaves %+v", got)
	}
}
