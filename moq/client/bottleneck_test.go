package client_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/internal/simlink"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// arrival is a group as a viewer had it.
type arrival struct {
	sequence     uint64
	whole        bool
	frames       int           // that came
	first, after time.Duration // from its writing to its first frame; to its end, or its loss
}

// watch reads a subscription until the track ends, each group on its own. born says
// when groups were written.
func watch(t *testing.T, s *moq.Subscription, born func(sequence uint64) time.Time) <-chan []arrival {
	t.Helper()
	done := make(chan []arrival, 1)
	go func() {
		var (
			mu      sync.Mutex
			list    []arrival
			reading sync.WaitGroup
		)
		for {
			g, ok, err := s.NextGroup(t.Context())
			if err != nil {
				t.Error("next group:", err)
			}
			if err != nil || !ok {
				break
			}
			reading.Go(func() {
				a := follow(t, &g, born(g.Sequence()))
				mu.Lock()
				defer mu.Unlock()
				list = append(list, a)
			})
		}
		reading.Wait()
		done <- list
	}()
	return done
}

// follow reads a group to its end.
func follow(t *testing.T, g *moq.GroupReader, born time.Time) arrival {
	a := arrival{sequence: g.Sequence()}
	for {
		_, ok, err := g.ReadFrame(t.Context())
		if err != nil || !ok {
			a.whole, a.after = err == nil, time.Since(born)
			return a
		}
		if a.frames++; a.frames == 1 {
			a.first = time.Since(born)
		}
	}
}

// TestNarrowLink is field report A27: over half the bitrate that a stream needs, the
// session lives, groups are given up and counted, and the viewer stays at the live
// edge: of each group it gets as much as the line carries while that is the newest.
func TestNarrowLink(t *testing.T) {
	for _, scheme := range []string{"moqt", "https"} {
		for _, v := range []lite.Version{lite.V04, lite.V05, lite.V06} {
			t.Run(scheme+"/"+v.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { narrowLink(t, scheme, v) })
			})
		}
	}
}

func narrowLink(t *testing.T, scheme string, v lite.Version) {
	const (
		groups, frames = 60, 10 // a group a second
		size           = 10_000
		age            = time.Second
	)
	r := simulate(t, v, 1, session.Limits{})
	w := r.join(t, "moqt", clean, lite.RolePublisher).publish(t)
	viewer := r.join(t, scheme, clean, lite.RoleSubscriber)
	s := read(t, viewer.find(t), moq.SubscribeOptions{MaxAge: age})
	time.Sleep(time.Second)
	viewer.line.Set(simlink.Line{Delay: 10 * time.Millisecond, Rate: frames * size / 2, Queue: size})
	start := time.Now()
	done := watch(t, s, func(n uint64) time.Time { return start.Add(time.Duration(n) * time.Second) })
	for n := range uint64(groups) {
		g, err := w.Group(n)
		if err != nil {
			t.Fatal(err)
		}
		for f := range uint64(frames) {
			if err := g.WriteFrame(moq.Frame{Timestamp: 1000*n + 100*f, Payload: make([]byte, size)}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		g.Close()
	}
	if err := context.Cause(viewer.Conn().Context()); err != nil {
		t.Fatal("the session has ended:", err)
	}
	w.Finish()
	list := <-done
	got := 0
	for _, a := range list {
		got += a.frames
		// A group is as old as the next one: after a second of that it is stale.
		if a.frames > 0 && a.first > 2*age {
			t.Errorf("group %d began after %v", a.sequence, a.first)
		}
	}
	if len(list) < groups*9/10 {
		t.Errorf("%d of %d groups began", len(list), groups)
	}
	if got < groups*frames*3/10 || got > groups*frames*6/10 {
		t.Errorf("%d of %d frames came over half of the bitrate", got, groups*frames)
	}
	if lost := r.lost(); lost < groups/2 || lost > groups {
		t.Errorf("%d groups counted as lost, want most of %d", lost, groups)
	}
}

// TestSoundBeforePicture is field report A30: over a bottleneck what has the higher
// priority is complete first, though it was written later.
func TestSoundBeforePicture(t *testing.T) {
	for _, scheme := range []string{"moqt", "https"} {
		for _, v := range []lite.Version{lite.V03, lite.V05, lite.V06} {
			t.Run(scheme+"/"+v.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					const rate = 100_000 // bytes per second
					r := simulate(t, v, 1, session.Limits{})
					publisher := r.join(t, "moqt", clean, lite.RolePublisher)
					b := moq.NewBroadcast(publisher.Cache(), nil)
					tracks := make(map[string]*moq.TrackWriter)
					for _, track := range []string{"video", "audio"} {
						var err error
						if tracks[track], err = b.Create(track, info); err != nil {
							t.Fatal(err)
						}
					}
					publisher.Publish(name, b)
					viewer := r.join(t, scheme, clean, lite.RoleSubscriber)
					seen := viewer.find(t)
					viewer.line.Set(simlink.Line{Delay: 10 * time.Millisecond, Rate: rate, Queue: 10_000})
					start := time.Now()
					arrivals := make(map[string]<-chan []arrival)
					for track, priority := range map[string]uint8{"video": 10, "audio": 200} {
						s, err := seen.Subscribe(moq.TrackKey{Name: track}, moq.SubscribeOptions{Priority: priority, MaxAge: info.MaxAge}, nil)
						if err != nil {
							t.Fatal(err)
						}
						t.Cleanup(s.Close)
						arrivals[track] = watch(t, s, func(uint64) time.Time { return start })
					}
					time.Sleep(time.Second)
					start = time.Now()
					put(t, tracks["video"], 0, make([]byte, 3*rate)) // three seconds of the line
					time.Sleep(time.Second)
					put(t, tracks["audio"], 0, make([]byte, rate)) // one
					time.Sleep(30 * time.Second)
					tracks["video"].Finish()
					tracks["audio"].Finish()
					picture, sound := <-arrivals["video"], <-arrivals["audio"]
					if len(picture) != 1 || len(sound) != 1 || !picture[0].whole || !sound[0].whole {
						t.Fatalf("video %+v, audio %+v, want a whole group of each", picture, sound)
					}
					// One second before it was written, one of its own, and what was under way.
					// Had the tracks shared the line it would have been three.
					if sound[0].after > 2500*time.Millisecond {
						t.Errorf("the audio was complete %v after the video was written, want 2s", sound[0].after)
					}
					if picture[0].after < 4*time.Second {
						t.Errorf("the video was complete after %v: there is no bottleneck", picture[0].after)
					}
				})
			})
		}
	}
}

// TestStoppedViewer is field report A26: to the others a viewer that reads nothing
// makes no difference, not of a nanosecond.
func TestStoppedViewer(t *testing.T) {
	for v := lite.V03; v <= lite.V07WIP; v++ {
		t.Run(v.String(), func(t *testing.T) {
			run := func(stopped int) (worst time.Duration, lost uint64) {
				synctest.Test(t, func(t *testing.T) { worst, lost = latencies(t, v, stopped) })
				return worst, lost
			}
			alone, lost := run(0)
			if lost != 0 {
				t.Errorf("%d groups lost without a stopped viewer", lost)
			}
			beside, lost := run(5)
			if lost == 0 {
				t.Error("no group was given up for the stopped viewers")
			}
			if alone != beside {
				t.Errorf("the healthy viewers waited %v at most, %v beside stopped ones", alone, beside)
			}
		})
	}
}

// latencies publishes 10 s of groups to healthy viewers beside some that read
// nothing, and returns the longest that a group took to a healthy one.
func latencies(t *testing.T, v lite.Version, stopped int) (worst time.Duration, lost uint64) {
	const groups, size = 100, 8000
	r := simulate(t, v, 1, session.Limits{QueueBytes: 64 << 10})
	w := r.join(t, "moqt", clean, lite.RolePublisher).publish(t)
	var watching []<-chan []arrival
	start := time.Now()
	born := func(n uint64) time.Time { return start.Add(time.Duration(n) * 100 * time.Millisecond) }
	for range 5 {
		viewer := r.join(t, "moqt", clean, lite.RoleSubscriber)
		watching = append(watching, watch(t, read(t, viewer.find(t), moq.SubscribeOptions{MaxAge: time.Second}), born))
	}
	for range stopped {
		p := r.joinWire(t, clean, func(c *transport.DialConfig) {
			c.QUIC = transport.DefaultQUIC()
			c.QUIC.InitialConnectionReceiveWindow, c.QUIC.MaxConnectionReceiveWindow = 16<<10, 16<<10
		})
		p.subscribe(t, 0)
	}
	time.Sleep(10 * time.Second)
	start = time.Now()
	for n := range uint64(groups) {
		put(t, w, n, make([]byte, size))
		time.Sleep(100 * time.Millisecond)
	}
	w.Finish()
	for _, done := range watching {
		list := <-done
		if len(list) != groups {
			t.Errorf("a healthy viewer has %d groups of %d", len(list), groups)
		}
		for _, a := range list {
			if !a.whole {
				t.Errorf("a healthy viewer lost group %d", a.sequence)
			}
			worst = max(worst, a.after)
		}
	}
	return worst, r.lost()
}
