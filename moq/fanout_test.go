package moq

import (
	"fmt"
	"testing"
	"time"
)

// fanout is a track with readers that follow it.
type fanout struct {
	w    *TrackWriter
	subs []*Subscription
	next uint64
}

func newFanout(tb testing.TB, readers int) *fanout {
	b := NewBroadcast(NewCache(0), nil)
	w, err := b.Create("v", TrackInfo{MaxAge: time.Second, Timescale: 1000})
	if err != nil {
		tb.Fatal(err)
	}
	f := &fanout{w: w}
	for range readers {
		s, err := b.Subscribe(TrackKey{Name: "v"}, SubscribeOptions{MaxAge: time.Second}, func() {})
		if err != nil {
			tb.Fatal(err)
		}
		f.subs = append(f.subs, s)
	}
	return f
}

// send writes a group of one frame and has all read it.
func (f *fanout) send(tb testing.TB, payload []byte) {
	if err := f.w.WriteGroup(f.next, Frame{Timestamp: 20 * f.next, Payload: payload}); err != nil {
		tb.Fatal(err)
	}
	f.next++
	for _, s := range f.subs {
		r, ok := s.Next()
		if !ok {
			tb.Fatal("no group")
		}
		for state := Open; state == Open; {
			_, state, _ = r.Raw()
		}
	}
}

// TestFanoutAllocatesOnce: what a frame costs does not grow with its readers (A28).
func TestFanoutAllocatesOnce(t *testing.T) {
	payload := make([]byte, 1000)
	per := func(readers int) float64 {
		f := newFanout(t, readers)
		return testing.AllocsPerRun(200, func() { f.send(t, payload) })
	}
	one, many := per(1), per(256)
	if many > one+1 {
		t.Errorf("%v allocations for a frame with 256 readers, %v with one", many, one)
	}
}

func BenchmarkFanout(b *testing.B) {
	payload := make([]byte, 1000)
	for _, readers := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprint(readers), func(b *testing.B) {
			f := newFanout(b, readers)
			b.ReportAllocs()
			for b.Loop() {
				f.send(b, payload)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*readers), "ns/delivery")
		})
	}
}
