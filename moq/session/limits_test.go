package session_test

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// TestFrameBounds: from 06 on a subscription begins and ends inside groups (§8.1).
func TestFrameBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const v = lite.V06
		relay := newSide(3)
		w := relay.local(t, "v")
		for n := range uint64(4) {
			var frames []moq.Frame
			for f := range uint64(3) {
				frames = append(frames, moq.Frame{Timestamp: 10*n + f, Payload: fmt.Append(nil, n, f)})
			}
			if err := w.WriteGroup(n, frames...); err != nil {
				t.Fatal(err)
			}
		}
		peer, _ := serveRaw(t, v, relay)
		peer.uni = nil // its SETUP
		ask(t, peer, request(v, lite.StreamSubscribe, lite.Subscribe{Broadcast: camera, Track: "v", Preferences: lite.Preferences{
			MaxAge:     time.Minute,
			GroupStart: lite.Some(1), FrameStart: 1, GroupEnd: lite.Some(2), FrameEnd: lite.Some(1),
		}}))
		synctest.Wait()
		var got []string
		for range len(peer.uni) {
			s, err := peer.AcceptUniStream(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(s)
			got = append(got, fmt.Sprint(hex.EncodeToString(b), " ", err))
		}
		want := []string{
			// Group 1 from frame 1: times 11 (absolute) and 12.
			"00" + "03000101" + "1603312031" + "0203312032" + " <nil>",
			// Group 2 up to frame 1: times 20 and 21.
			"00" + "03000200" + "2803322030" + "0203322031" + " <nil>",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("group streams (-want +got):\n%s", diff)
		}
	})
}

// TestBandwidthLimit: a viewer over its rate loses groups, newest first served.
func TestBandwidthLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		relay, viewer := newSide(3), newSide(2)
		relay.conf.Limits.Bandwidth = 80_000 // 10 groups of 1000 bytes a second
		w := relay.local(t, "v")
		join(t, lite.V06, viewer, relay)
		s := viewer.subscribe(t, moq.SubscribeOptions{MaxAge: 100 * time.Millisecond})
		got := 0
		for n := range uint64(1000) { // 50 a second for 20 seconds
			if err := w.WriteGroup(n, moq.Frame{Timestamp: 20 * n, Payload: make([]byte, 1000)}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond)
			got += len(groups(t, s))
		}
		if got < 190 || got > 210 {
			t.Errorf("%d groups in 20 s, want about 200", got)
		}
		if lost := relay.counters.GroupsSkipped.Load(); lost < 700 {
			t.Errorf("%d groups counted as skipped", lost)
		}
		lost := relay.counters.GroupsSkipped.Load()
		if frames, bytes := relay.counters.StaleFrames.Load(), relay.counters.StaleBytes.Load(); frames != lost || bytes < 1000*lost {
			t.Errorf("%d groups of 1,000 bytes skipped, counted as %d frames of %d bytes", lost, frames, bytes)
		}
	})
}

// TestQueueLimit: what waits in the transport for a peer that does not read is
// bounded, and holds no more than that when the peer reads again.
func TestQueueLimit(t *testing.T) {
	eachVersion(t, lite.V03, func(t *testing.T, v lite.Version) {
		relay := newSide(3)
		relay.conf.Limits.QueueBytes = 100_000
		relay.conf.Limits.OpenGroups = 1000
		w := relay.local(t, "v")
		peer, r := serveRaw(t, v, relay)
		ask(t, peer, request(v, lite.StreamSubscribe, lite.Subscribe{
			Broadcast: camera, Track: "v", Preferences: lite.Preferences{MaxAge: 500 * time.Millisecond},
		}))
		synctest.Wait()
		big := strings.Repeat("x", 1000)
		for n := range uint64(1000) {
			write(t, w, n, big)
		}
		queued := 0
		for _, s := range peer.peer.opened {
			queued += len(s.buf)
		}
		if queued < 50_000 || queued > 110_000 {
			t.Errorf("%d bytes are queued, want no more than 100,000", queued)
		}
		if n := r.Queued(); n < 50_000 || n > 100_000 {
			t.Errorf("Queued() = %d", n)
		}
		before := len(peer.peer.opened)
		for range before {
			s, err := peer.AcceptUniStream(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			io.ReadAll(s)
		}
		write(t, w, 1000, big)
		time.Sleep(time.Second)
		if n := len(peer.peer.opened) - before; n < 1 || n > 7 {
			t.Errorf("%d groups after the peer has caught up, want the fresh ones", n)
		}
	})
}
