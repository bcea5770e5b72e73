package moq

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// pulled is a source whose tracks each have a writer of their own, as a session's do.
type pulled struct {
	b  *Broadcast
	wg sync.WaitGroup
}

// Open writes groups while somebody subscribes, then offers the track for release.
func (p *pulled) Open(w *TrackWriter) {
	p.wg.Go(func() {
		w.SetInfo(TrackInfo{MaxAge: 200 * time.Millisecond, Timescale: 1000})
		for n := uint64(0); ; n++ {
			if d, changed := w.Demand(); d.Subscribers == 0 {
				if w.Release() {
					return
				}
				<-changed
			}
			g, err := w.Group(n)
			if err != nil {
				continue
			}
			g.WriteFrame(Frame{Timestamp: n * 20, Payload: make([]byte, 100)})
			if n%7 == 0 {
				w.Idle()
			}
			g.WriteFrame(Frame{Timestamp: n*20 + 1, Payload: make([]byte, 300)})
			g.Close()
			w.WriteDatagram(Datagram{Sequence: n})
		}
	})
}

func (p *pulled) Fetch(_ TrackKey, g *GroupWriter, _ uint64, _ uint8) func() {
	p.wg.Go(func() {
		g.WriteFrame(Frame{Payload: []byte("fetched")})
		g.Close()
	})
	return func() { g.Abort(ErrCancelled) }
}

// TestConcurrentUse has readers come, go, and fetch while groups come, age, and are
// dropped for memory. The race detector and the reader's own checks judge.
func TestConcurrentUse(t *testing.T) {
	o := NewOrigin(1, NewCache(20_000))
	src := &pulled{}
	src.b = NewBroadcast(o.Cache(), src)
	a := o.Publish("x", src.b)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	var readers sync.WaitGroup
	for i := range 8 {
		readers.Go(func() {
			for ctx.Err() == nil {
				visit(t, ctx, src.b, rand.New(rand.NewPCG(uint64(i), 1)))
			}
		})
	}
	readers.Go(func() {
		for ctx.Err() == nil {
			w := o.Watch("", Reader{})
			a.SetCost(rand.Uint64N(3))
			w.Next()
			w.Close()
			o.Cache().Advance(time.Now())
		}
	})
	readers.Wait()
	src.wg.Wait()
	src.b.Close(ErrClosed)
	o.Cache().Advance(time.Now().Add(time.Hour))
	if s := o.Cache().Stats(); s.Used != 0 || s.Groups != 0 {
		t.Errorf("left in the cache: %+v", s)
	}
}

// visit is one reader's stay.
func visit(t *testing.T, ctx context.Context, b *Broadcast, r *rand.Rand) {
	s, err := b.Subscribe(TrackKey{Name: "v"}, SubscribeOptions{
		MaxAge: time.Duration(r.IntN(300)) * time.Millisecond,
		Start:  Start{Kind: StartKind(r.IntN(2))},
	}, func() {})
	if err != nil {
		t.Error("subscribe:", err)
		return
	}
	defer s.Close()
	for range r.IntN(20) {
		g, ok, err := s.NextGroup(ctx)
		if err != nil || !ok {
			return
		}
		for n := 0; ; n++ {
			_, ok, err := g.ReadFrame(ctx)
			if err == nil && !ok && n != 2 {
				t.Errorf("a whole group of %d frames, want 2", n)
			}
			if err != nil || !ok {
				break
			}
		}
		s.NextDatagram()
		if r.IntN(4) == 0 {
			fetchOne(t, ctx, s.Track(), g.Sequence()+r.Uint64N(3))
		}
	}
}

func fetchOne(t *testing.T, ctx context.Context, track *Track, sequence uint64) {
	f, err := track.Fetch(ctx, sequence, 0, 0)
	if err != nil {
		t.Error("fetch:", err)
		return
	}
	defer f.Close()
	if _, _, err := f.ReadFrame(ctx); errors.Is(err, ErrNotFound) {
		t.Error("a fetch of a live track:", err)
	}
}
