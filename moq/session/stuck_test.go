package session_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// TestStuckViewerKeepsNothingStale: what has aged out is given up for a viewer that
// reads nothing, also where it takes groups as old as the track keeps them: then they
// are gone from the track in the moment in which they are stale. Each that it misses
// is counted (A26, A27).
func TestStuckViewerKeepsNothingStale(t *testing.T) {
	const age = 5 * time.Second // of the track, by local
	for _, tt := range []struct {
		name   string
		maxAge time.Duration
	}{{"as the track", age}, {"longer", 2 * age}, {"shorter", age / 2}} {
		t.Run(tt.name, func(t *testing.T) {
			eachVersion(t, lite.V03, func(t *testing.T, v lite.Version) {
				relay := newSide(3)
				relay.conf.Limits.QueueBytes = 20_000
				w := relay.local(t, "v")
				peer, _ := serveRaw(t, v, relay)
				peer.peer.window = 1000 // a stream takes no more until it is read
				peer.peer.opened = nil
				ask(t, peer, request(v, lite.StreamSubscribe, lite.Subscribe{
					Broadcast: camera, Track: "v", Preferences: lite.Preferences{MaxAge: tt.maxAge},
				}))
				synctest.Wait()
				const groups = 300
				for n := range uint64(groups) { // 30 s
					write(t, w, n, string(make([]byte, 5000)))
				}
				time.Sleep(time.Second) // the sender looks for room now and then
				fresh := int(min(tt.maxAge, age) / (100 * time.Millisecond))
				kept := 0
				for _, s := range peer.peer.opened {
					if s.reset == nil && len(s.buf) > 0 {
						kept++
					}
				}
				if kept > fresh {
					t.Errorf("%d groups are still under way, want at most the %d that are fresh", kept, fresh)
				}
				lost := relay.counters.GroupsReset.Load() + relay.counters.GroupsSkipped.Load()
				if waiting := groups - int(lost); waiting < kept || waiting > fresh+1 {
					t.Errorf("%d groups counted as lost of %d with %d under way and at most %d fresh", lost, groups, kept, fresh+1)
				}
			})
		})
	}
}

// TestLateJoinerMissesNothing: what was over before a viewer came is none of its losses.
func TestLateJoinerMissesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const v = lite.V06
		relay := newSide(3)
		w := relay.local(t, "v")
		for n := range uint64(200) {
			write(t, w, n, "x")
		}
		peer, _ := serveRaw(t, v, relay)
		peer.uni = nil // its SETUP
		ask(t, peer, request(v, lite.StreamSubscribe, lite.Subscribe{
			Broadcast: camera, Track: "v", Preferences: lite.Preferences{MaxAge: time.Second},
		}))
		synctest.Wait()
		if len(peer.uni) < 10 {
			t.Fatalf("%d groups served, want a second's", len(peer.uni))
		}
		for range len(peer.uni) {
			s, err := peer.AcceptUniStream(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, s)
		}
		w.WriteGroup(200, moq.Frame{Timestamp: 20_000, Payload: []byte("x")})
		synctest.Wait()
		if lost := relay.counters.GroupsReset.Load() + relay.counters.GroupsSkipped.Load(); lost != 0 {
			t.Errorf("%d groups counted as lost", lost)
		}
	})
}
