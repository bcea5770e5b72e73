package session_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// TestLongTrackEndsAtOnce: a track whose early groups have aged out ends as soon
// as the last has come, not a maximum age later (§8.4).
func TestLongTrackEndsAtOnce(t *testing.T) {
	eachVersion(t, lite.V05, func(t *testing.T, v lite.Version) {
		m := newMesh(t, v)
		w := m.create(t)
		s := m.viewer.subscribe(t, moq.SubscribeOptions{MaxAge: 5 * time.Second})
		var want []string
		for n := range uint64(120) { // 12 s of media, of which the track keeps 5
			write(t, w, n, fmt.Sprint(n))
			want = append(want, fmt.Sprint(n))
			if diff := cmp.Diff(want[n:], groups(t, s)); diff != "" {
				t.Fatalf("group %d (-want +got):\n%s", n, diff)
			}
		}
		w.Finish()
		synctest.Wait()
		if end, _, complete, err := s.End(); end != 120 || !complete || err != nil {
			t.Errorf("End() = %d, complete %v, %v, want 120, at once", end, complete, err)
		}
	})
}

// TestCleanEndOutlivesTheSession: a track that was said to have ended is complete
// although its session closes at once, unless a group that began was cut (§14.6).
func TestCleanEndOutlivesTheSession(t *testing.T) {
	eachVersion(t, lite.V01, func(t *testing.T, v lite.Version) {
		m := newMesh(t, v)
		w := m.create(t)
		s := m.viewer.subscribe(t, moq.SubscribeOptions{MaxAge: time.Minute})
		write(t, w, 0, "last")
		w.Finish()
		synctest.Wait()
		m.up.Close(session.CodeNoError, "")
		time.Sleep(10 * time.Second)
		if diff := cmp.Diff([]string{"last"}, groups(t, s)); diff != "" {
			t.Errorf("groups (-want +got):\n%s", diff)
		}
		if end, _, complete, err := s.End(); end != 1 || !complete || err != nil {
			t.Errorf("End() = %d, complete %v, %v, want 1, clean", end, complete, err)
		}
	})
}

// TestCutGroupIsNoCleanEnd is the other half: what broke off is not all there is.
func TestCutGroupIsNoCleanEnd(t *testing.T) {
	eachVersion(t, lite.V01, func(t *testing.T, v lite.Version) {
		relay := newSide(3)
		peer := relay.announcer(t, v)
		s := relay.subscribe(t, moq.SubscribeOptions{MaxAge: time.Minute})
		answerTrack(t, peer, v)
		answers, _ := accept(t, peer)
		group, err := peer.OpenUniStream()
		if err != nil {
			t.Fatal(err)
		}
		b := lite.AppendGroupStream(nil, v, lite.GroupHeader{})
		group.Write(append(lite.AppendFrameHeader(b, v, 0, 5), "cut"...))
		if v >= lite.V05 {
			b = lite.SubscribeStart{}.Append(nil, v)
			answers.Write(lite.SubscribeEnd{Group: 1, Streams: 1}.Append(b, v))
		}
		answers.Close()
		synctest.Wait()
		peer.Close(session.CodeNoError, "")
		synctest.Wait()
		if _, _, complete, err := s.End(); complete || err == nil {
			t.Errorf("End(): complete %v, %v, want an error", complete, err)
		}
	})
}

// TestLongLastGroup: a group that has begun is read to its end, however long after
// that of the subscription, also where another is missing (§8.4).
func TestLongLastGroup(t *testing.T) {
	eachVersion(t, lite.V01, func(t *testing.T, v lite.Version) {
		relay := newSide(3)
		peer := relay.announcer(t, v)
		s := relay.subscribe(t, moq.SubscribeOptions{MaxAge: time.Minute})
		answerTrack(t, peer, v)
		answers, _ := accept(t, peer)
		group, err := peer.OpenUniStream()
		if err != nil {
			t.Fatal(err)
		}
		b := lite.AppendGroupStream(nil, v, lite.GroupHeader{})
		group.Write(append(lite.AppendFrameHeader(b, v, 0, 8), "slow"...))
		if v >= lite.V05 {
			b = lite.SubscribeStart{}.Append(nil, v)
			answers.Write(lite.SubscribeEnd{Group: 2, Streams: 2}.Append(b, v))
		}
		answers.Close()
		time.Sleep(time.Minute)
		group.Write([]byte("tail"))
		group.Close()
		synctest.Wait()
		time.Sleep(time.Second) // up to 04 another group might follow
		if diff := cmp.Diff([]string{"slowtail"}, groups(t, s)); diff != "" {
			t.Errorf("groups (-want +got):\n%s", diff)
		}
		if _, _, complete, err := s.End(); !complete || err != nil {
			t.Errorf("End(): complete %v, %v, want a clean end", complete, err)
		}
	})
}

// answerTrack answers a request for the track's info where the version has that.
func answerTrack(t *testing.T, peer *fakeConn, v lite.Version) {
	t.Helper()
	if !v.HasTrackInfo() {
		return
	}
	info, _ := accept(t, peer)
	info.Write(lite.TrackInfo{Timescale: 1000, MaxAge: 5 * time.Second}.Append(nil, v))
	info.Close()
}

// TestQuietEnd: up to 04 nothing says how many groups there are. A track has ended
// when its streams have and nothing came for a few round trips, however long some
// took.
func TestQuietEnd(t *testing.T) {
	for v := lite.V01; v <= lite.V04; v++ {
		t.Run(v.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				relay := newSide(3)
				peer := relay.announcer(t, v)
				peer.peer.rtt = 50 * time.Millisecond
				s := relay.subscribe(t, moq.SubscribeOptions{MaxAge: time.Minute})
				answers, _ := accept(t, peer)
				answers.Close()
				var want []string
				for n := range uint64(10) { // they trickle in, over more than a second
					send(t, peer, v, []uint64{n})
					want = append(want, fmt.Sprint(n))
					time.Sleep(3 * 50 * time.Millisecond)
				}
				if _, _, complete, err := s.End(); complete || err != nil {
					t.Errorf("before the streams are over: complete %v, %v", complete, err)
				}
				time.Sleep(50 * time.Millisecond)
				if diff := cmp.Diff(want, sorted(groups(t, s))); diff != "" {
					t.Errorf("groups (-want +got):\n%s", diff)
				}
				synctest.Wait()
				if end, _, complete, err := s.End(); end != 10 || !complete || err != nil {
					t.Errorf("End() = %d, complete %v, %v, want 10, four round trips after the last", end, complete, err)
				}
			})
		})
	}
}
