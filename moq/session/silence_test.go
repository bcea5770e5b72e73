package session_test

import (
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// TestRequestsSayOneThing: a request stream holds one message (§4, §10), whether
// what is too much comes with it or while the answer is awaited.
func TestRequestsSayOneThing(t *testing.T) {
	type message interface {
		Append([]byte, lite.Version) []byte
	}
	subscribe := lite.Subscribe{Broadcast: camera, Track: "v"}
	for name, tt := range map[string]struct {
		from, to lite.Version
		kind     lite.BidiStream
		m        message
		code     session.StreamCode
	}{
		"announce":  {lite.V01, lite.V07WIP, lite.StreamAnnounce, lite.AnnounceRequest{}, session.StreamCancelled},
		"track":     {lite.V05, lite.V07WIP, lite.StreamTrack, lite.Track{Broadcast: camera, Name: "v"}, session.StreamCancelled},
		"fetch":     {lite.V05, lite.V07WIP, lite.StreamFetch, lite.Fetch{Broadcast: camera, Track: "v"}, session.StreamCancelled},
		"subscribe": {lite.V01, lite.V02, lite.StreamSubscribe, subscribe, session.StreamCancelled},
	} {
		t.Run(name, func(t *testing.T) {
			eachVersion(t, lite.V01, func(t *testing.T, v lite.Version) {
				if v < tt.from || v > tt.to {
					t.Skip("no such request")
				}
				relay := newSide(3)
				relay.announcer(t, v) // who answers nothing
				peer, _ := serveRaw(t, v, relay)
				q := request(v, tt.kind, tt.m)
				atOnce := ask(t, peer, append(q, 0))
				late := ask(t, peer, q)
				synctest.Wait()
				late.Write([]byte{0})
				synctest.Wait()
				for when, s := range map[string]session.Stream{"at once": atOnce, "late": late} {
					s.SetReadDeadline(time.Now().Add(time.Second))
					s.SetReadDeadline(time.Now().Add(time.Second))
					if _, err := io.ReadAll(s); code(err) != int(tt.code) {
						t.Errorf("%s: %v, want reset %v", when, err, tt.code)
					}
				}
				if n := relay.counters.StreamsRefused.Load(); n != 2 {
					t.Errorf("%d counted, want 2", n)
				}
			})
		})
	}
}

// TestGoawaySaysOneThing: one with a tail is malformed, and dropped (§12).
func TestGoawaySaysOneThing(t *testing.T) {
	eachVersion(t, lite.V04, func(t *testing.T, v lite.Version) {
		relay := newSide(3)
		relay.conf.OnGoaway = func(string) { t.Error("a malformed goaway was taken") }
		peer, _ := serveRaw(t, v, relay)
		ask(t, peer, append(request(v, lite.StreamGoaway, lite.Goaway{}), 0))
		synctest.Wait()
		if n := relay.counters.StreamsRefused.Load(); n != 1 {
			t.Errorf("%d counted, want 1", n)
		}
	})
}

// TestWatchersLeave: nor one that does not read announcements.
func TestWatchersLeave(t *testing.T) {
	eachVersion(t, lite.V03, func(t *testing.T, v lite.Version) {
		relay := newSide(3)
		relay.conf.Limits.AnnounceRequests = 1
		for i := range 10 {
			relay.origin.Publish(fmt.Sprintf("room/%d", i), moq.NewBroadcast(relay.origin.Cache(), nil))
		}
		peer, _ := serveRaw(t, v, relay)
		peer.peer.window = 20
		for range 3 {
			s := ask(t, peer, request(v, lite.StreamAnnounce, lite.AnnounceRequest{}))
			synctest.Wait()
			s.Close()
			synctest.Wait()
			s.SetReadDeadline(time.Now().Add(time.Second))
			if _, err := io.ReadAll(s); code(err) != int(session.StreamCancelled) {
				t.Errorf("after the watcher left: %v, want reset %v", err, session.StreamCancelled)
			}
		}
	})
}

// TestFetchersLeave: who no longer wants an answer that it does not read is let go
// (§10).
func TestFetchersLeave(t *testing.T) {
	eachVersion(t, lite.V05, func(t *testing.T, v lite.Version) {
		relay := newSide(3)
		relay.conf.Limits.Requests, relay.conf.Limits.Subscriptions = 1, 1
		w := relay.local(t, "v")
		write(t, w, 0, string(make([]byte, 5000)))
		peer, _ := serveRaw(t, v, relay)
		peer.peer.window = 100
		for range 3 { // one more than may be open at once
			s := ask(t, peer, request(v, lite.StreamFetch, lite.Fetch{Broadcast: camera, Track: "v"}))
			synctest.Wait()
			s.Close()
			synctest.Wait()
			s.SetReadDeadline(time.Now().Add(time.Second))
			if _, err := io.ReadAll(s); code(err) != int(session.StreamCancelled) {
				t.Errorf("after the fetcher left: %v, want reset %v", err, session.StreamCancelled)
			}
		}
	})
}
