package moq

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

func TestCacheDropsTheLeastRecent(t *testing.T) {
	b, w := newTestTrack(t, time.Hour)
	for n := range uint64(10) {
		one(t, w, n, n)
	}
	each := b.cache.Stats().Used / 10
	b.cache.SetCapacity(5*each + each/2)
	one(t, w, 10, 10)
	s := b.cache.Stats()
	if s.Used > 5*each+each/2 || s.Evicted != 6 || s.Groups != 5 {
		t.Errorf("stats %+v, want 5 groups, 6 evicted", s)
	}
	got := served(subscribe(t, b, SubscribeOptions{MaxAge: Unlimited, Start: Start{Kind: StartFresh}}))
	if len(got) != 5 || got[0] != 6 {
		t.Errorf("kept %v, want 6 to 10", got)
	}
}

// TestCacheKeepsTheEdge: a live track can always be joined (A25).
func TestCacheKeepsTheEdge(t *testing.T) {
	b, w := newTestTrack(t, time.Hour)
	b.cache.SetCapacity(1)
	start := time.Unix(1000, 0)
	b.cache.Advance(start)
	one(t, w, 0, 0)
	one(t, w, 1, 1)
	b.cache.Advance(start.Add(time.Hour))
	if got := served(subscribe(t, b, SubscribeOptions{})); len(got) != 1 || got[0] != 1 {
		t.Errorf("a late viewer gets %v, want group 1", got)
	}
	b.Close(ErrClosed)
	b.cache.Advance(start.Add(2 * time.Hour))
	if s := b.cache.Stats(); s.Used != 0 || s.Groups != 0 {
		t.Errorf("after the broadcast closed: %+v", s)
	}
}

// TestCacheLooksOnceAtWhatMustStay: under a capacity below what the live edges take,
// a write looks at what has changed since the last one and not at every edge.
func TestCacheLooksOnceAtWhatMustStay(t *testing.T) {
	b := NewBroadcast(NewCache(1), nil)
	var writers []*TrackWriter
	for i := range 100 {
		w, err := b.Create(fmt.Sprint(i), TrackInfo{MaxAge: time.Hour, Timescale: 1000})
		if err != nil {
			t.Fatal(err)
		}
		writers = append(writers, w)
		one(t, w, 0, 0)
	}
	candidates := func() (n int) {
		for e := b.cache.first.next; e != &b.cache.first; e = e.next {
			n++
		}
		return n
	}
	if n := candidates(); n > 1 {
		t.Errorf("%d of 100 live edges are to be looked at by the next write", n)
	}
	for i, w := range writers {
		one(t, w, 1, 1) // frees the edge before
		if s := b.cache.Stats(); s.Groups != 100 || s.Evicted != int64(i+1) || candidates() > 1 {
			t.Fatalf("after write %d: %+v, %d to be looked at", i, s, candidates())
		}
	}
	writers[0].Finish()
	b.Close(ErrClosed)
	b.cache.Advance(time.Unix(1000, 0))
	if s := b.cache.Stats(); s.Groups != 0 || s.Used != 0 {
		t.Errorf("after the broadcast closed: %+v", s)
	}
}

func TestCacheExpires(t *testing.T) {
	b, w := newTestTrack(t, time.Hour)
	now := time.Unix(1000, 0)
	b.cache.Advance(now)
	one(t, w, 0, 0)
	one(t, w, 1, 1)
	b.cache.Advance(now.Add(CacheExpiry - time.Second))
	if s := b.cache.Stats(); s.Expired != 0 {
		t.Errorf("expired early: %+v", s)
	}
	b.cache.Advance(now.Add(CacheExpiry))
	if s := b.cache.Stats(); s.Expired != 1 || s.Groups != 1 {
		t.Errorf("after %v: %+v, want one expired, the edge kept", CacheExpiry, s)
	}
}

// TestChurnLeavesNothing: many tiny groups pass without a trace (A24).
func TestChurnLeavesNothing(t *testing.T) {
	b, w := newTestTrack(t, 5*time.Second)
	s := subscribe(t, b, SubscribeOptions{MaxAge: time.Second})
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	run := func(from, to uint64) {
		for n := from; n < to; n++ {
			one(t, w, n, n*100)
			served(s)
		}
	}
	run(0, 20_000)
	before := heap()
	run(20_000, 200_000)
	if after := heap(); after > before+1<<20 {
		t.Errorf("heap grew from %d to %d bytes over 180,000 groups", before, after)
	}
	if s := b.cache.Stats(); s.Groups > 60 {
		t.Errorf("%d groups kept, want the 5 s of the track", s.Groups)
	}
}

// BenchmarkWriteOverCapacity writes under a capacity below what the live edges take:
// the time of a write does not depend on how many there are.
func BenchmarkWriteOverCapacity(b *testing.B) {
	for _, edges := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("edges=%d", edges), func(b *testing.B) {
			broadcast := NewBroadcast(NewCache(1), nil)
			var w *TrackWriter
			for i := range edges {
				w, _ = broadcast.Create(fmt.Sprint(i), TrackInfo{Timescale: 1000})
				w.WriteGroup(0, Frame{})
			}
			b.ReportAllocs()
			for n := uint64(1); b.Loop(); n++ {
				w.WriteGroup(n, Frame{Timestamp: n})
			}
		})
	}
}
