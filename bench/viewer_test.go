package bench

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/moq"
)

// TestViewerCounts sends groups of two frames, one of them whole, one cut, one
// not at all, and one outside the window.
func TestViewerCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		load := Load{Rate: 10, FrameBytes: 20, GroupFrames: 2, Viewers: 1}
		v := &viewer{load: load, win: window{2, 8}, clock: newClock(), latency: newPhases(window{2, 8}, 1)}
		time.Sleep(time.Second) // the clock does not begin with the run
		v.clock.begin()

		b := moq.NewBroadcast(moq.NewCache(0), nil)
		track, err := newTrack(b)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- v.run(t.Context(), b) }()
		synctest.Wait()

		const late = 3 * time.Millisecond
		write := func(g *moq.GroupWriter, n uint64) {
			t.Helper()
			time.Sleep(load.due(n) + late - v.clock.now())
			frame := make([]byte, load.FrameBytes)
			stamp{number: n, due: load.due(n)}.put(frame)
			if err := g.WriteFrame(moq.Frame{Timestamp: uint64(load.due(n).Microseconds()), Payload: frame}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		group := func(sequence uint64) *moq.GroupWriter {
			t.Helper()
			g, err := track.Group(sequence)
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		before := group(0)
		write(before, 0)
		write(before, 1)
		before.Close()
		whole := group(1)
		write(whole, 2)
		write(whole, 3)
		whole.Close()
		cut := group(2)
		write(cut, 4)
		cut.Abort(moq.ErrCancelled)
		track.Finish()

		if err := <-done; err != nil {
			t.Errorf("run = %v, want nil after the end of the track", err)
		}
		want := tally{frames: 3, arrived: 3, bytes: 60, whole: 1, cut: 1}
		if v.tally != want {
			t.Errorf("tally = %+v, want %+v", v.tally, want)
		}
		if got := v.latency.quantiles().P50; got/10 != late.Microseconds()/10 { // the histogram keeps three digits
			t.Errorf("median latency %d µs, want %d", got, late.Microseconds())
		}
	})
}

// TestViewerStop ends a viewer in the middle of a group.
func TestViewerStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		load := Load{Rate: 10, FrameBytes: 20, GroupFrames: 2, Viewers: 1}
		v := &viewer{load: load, win: window{0, 2}, clock: newClock(), latency: newPhases(window{0, 2}, 1)}
		time.Sleep(time.Second)
		v.clock.begin()
		b := moq.NewBroadcast(moq.NewCache(0), nil)
		track, err := newTrack(b)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- v.run(ctx, b) }()
		g, err := track.Group(0)
		if err != nil {
			t.Fatal(err)
		}
		g.WriteFrame(moq.Frame{Payload: make([]byte, load.FrameBytes)})
		synctest.Wait()
		stop()
		if err := <-done; err != nil {
			t.Errorf("run = %v, want nil", err)
		}
		if v.tally.cut != 1 {
			t.Errorf("%d groups cut, want the open one", v.tally.cut)
		}
	})
}

// TestPublisherKeepsTime holds the writer up and expects due times to stay.
func TestPublisherKeepsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		load := Load{Rate: 10, FrameBytes: 16, GroupFrames: 1, Viewers: 1}
		b := moq.NewBroadcast(moq.NewCache(0), nil)
		track, err := newTrack(b)
		if err != nil {
			t.Fatal(err)
		}
		sub, err := b.Subscribe(moq.TrackKey{Name: trackName}, moq.SubscribeOptions{MaxAge: maxAge}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		p := &publisher{load: load, track: track, clock: newClock(), late: newLatencies(), win: window{0, 5}}
		time.Sleep(time.Second)
		p.clock.begin()
		time.Sleep(250 * time.Millisecond) // frames 0 to 2 are late by 250, 150 and 50 ms
		if err := p.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for n := uint64(0); n < 5; n++ {
			g, _, err := sub.NextGroup(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			f, _, err := g.ReadFrame(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got, want := readStamp(f.Payload), (stamp{n, load.due(n)}); got != want {
				t.Errorf("stamp %d = %v, want %v", n, got, want)
			}
		}
		if max := time.Duration(p.late.quantiles().Max) * time.Microsecond; max < 249*time.Millisecond {
			t.Errorf("latest by %v, want 250 ms", max)
		}
	})
}
