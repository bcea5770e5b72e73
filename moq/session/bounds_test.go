package session_test

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// serveRaw serves a peer whose bytes the test writes. The peer's SETUP is said.
func serveRaw(t *testing.T, v lite.Version, s *side) (peer *fakeConn, r *running) {
	t.Helper()
	peer, conn := newFakeConns()
	r = s.run(t, conn, v, true)
	if v.HasSetup() {
		b := lite.Setup{Hop: 8}.Append(lite.StreamSetup.Append(nil, v), v)
		say(t, peer, b)
	}
	if v < lite.V03 {
		ask(t, peer, lite.ClientSetup{Versions: []uint64{v.Code()}}.Append(nil))
	}
	synctest.Wait()
	if r.Session == nil {
		t.Fatal("no session")
	}
	return peer, r
}

// say sends a unidirectional stream.
func say(t *testing.T, c *fakeConn, b []byte) *fakeStream {
	t.Helper()
	s, err := c.OpenUniStream()
	if err != nil {
		t.Fatal(err)
	}
	s.Write(b)
	s.Close()
	return s.(*fakeStream)
}

// ask opens a request stream, and leaves it open.
func ask(t *testing.T, c *fakeConn, b []byte) session.Stream {
	t.Helper()
	s, err := c.OpenStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(b); err != nil {
		t.Fatal(err)
	}
	return s
}

// request is a stream type with its message.
func request(v lite.Version, kind lite.BidiStream, m interface {
	Append([]byte, lite.Version) []byte
}) []byte {
	return m.Append(kind.Append(nil, v), v)
}

// code is the stream code that err is, or -1.
func code(err error) int {
	var e *session.StreamError
	if !errors.As(err, &e) {
		return -1
	}
	return int(e.Code)
}

// accept takes the next request of the peer under test and its first bytes.
func accept(t *testing.T, c *fakeConn) (session.Stream, []byte) {
	t.Helper()
	s, err := c.AcceptStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1024)
	n, err := s.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return s, b[:n]
}

// announcer is a raw peer that has announced the camera.
func (s *side) announcer(t *testing.T, v lite.Version) (peer *fakeConn) {
	t.Helper()
	peer, _ = serveRaw(t, v, s)
	stream, _ := accept(t, peer)
	var b []byte
	if v.HasAnnounceOK() {
		b = lite.AnnounceOK{Hop: 9, Active: 1}.Append(b, v)
	}
	switch {
	case v.HasAnnounceInit():
		b = lite.AnnounceInit{Suffixes: []string{camera}}.Append(b, v)
	case v.HasAnnounceIDs():
		b = lite.AnnounceStart{Suffix: camera}.Append(b, v)
	case v.HasSetup():
		b = lite.Announce{Active: true, Suffix: camera}.Append(b, v)
	default: // the sender adds itself
		b = lite.Announce{Active: true, Suffix: camera, Hops: []uint64{9}}.Append(b, v)
	}
	stream.Write(b)
	synctest.Wait()
	return peer
}

// TestAnsweredRequestsEnd: a peer that leaves its half open after the answer keeps
// nothing of ours busy.
func TestAnsweredRequestsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const v = lite.V06
		relay := newSide(3)
		peer, _ := serveRaw(t, v, relay)
		b := moq.NewBroadcast(relay.origin.Cache(), nil)
		w, err := b.Create("v", moq.TrackInfo{})
		if err != nil {
			t.Fatal(err)
		}
		relay.origin.Publish(camera, b)
		write(t, w, 0, "x")
		for _, q := range [][]byte{
			request(v, lite.StreamTrack, lite.Track{Broadcast: camera, Name: "v"}),
			request(v, lite.StreamFetch, lite.Fetch{Broadcast: camera, Track: "v"}),
		} {
			s := ask(t, peer, q)
			if _, err := io.ReadAll(s); err != nil {
				t.Fatalf("request %x: %v", q, err)
			}
			time.Sleep(11 * time.Second)
			if _, err := s.Write([]byte("more")); code(err) != int(session.StreamCancelled) {
				t.Errorf("request %x: %v, want the half to be stopped", q, err)
			}
		}
	})
}

// TestMutePublisher: whoever waits for a publisher that does not answer is told
// in time (A20).
func TestMutePublisher(t *testing.T) {
	for _, tt := range []struct {
		name string
		mute func(t *testing.T, peer *fakeConn)
	}{
		{"no answer", func(t *testing.T, peer *fakeConn) {}},
		{"no stream credit", func(t *testing.T, peer *fakeConn) { peer.peer.noBidi = true }},
		{"no data credit", func(t *testing.T, peer *fakeConn) { peer.peer.window = 3 }},
	} {
		for _, v := range []lite.Version{lite.V01, lite.V03, lite.V06} {
			t.Run(tt.name+"/"+v.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					relay := newSide(3)
					peer := relay.announcer(t, v)
					tt.mute(t, peer)
					s := relay.subscribe(t, moq.SubscribeOptions{})
					start := time.Now()
					if _, _, err := s.NextGroup(t.Context()); !errors.Is(err, moq.ErrTimeout) {
						t.Errorf("NextGroup: %v, want a timeout", err)
					}
					if took := time.Since(start); took != 10*time.Second {
						t.Errorf("after %v, want 10s", took)
					}
					synctest.Wait()
					if n := relay.counters.TimedOut.Load(); n != 1 {
						t.Errorf("%d timeouts counted, want 1", n)
					}
				})
			})
		}
	}
}

// TestAcceptanceUpTo04: an answer accepts a subscription, and so does a group; then
// there may be silence for ever.
func TestAcceptanceUpTo04(t *testing.T) {
	for v := lite.V01; v <= lite.V04; v++ {
		for name, do := range map[string]func(t *testing.T, peer *fakeConn, answers session.Stream){
			"answer": func(_ *testing.T, _ *fakeConn, answers session.Stream) {
				answers.Write(lite.SubscribeOK{}.Append(nil, v))
			},
			"group": func(t *testing.T, peer *fakeConn, _ session.Stream) { send(t, peer, v, []uint64{0}) },
		} {
			t.Run(v.String()+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					relay := newSide(3)
					peer := relay.announcer(t, v)
					s := relay.subscribe(t, moq.SubscribeOptions{})
					answers, _ := accept(t, peer)
					do(t, peer, answers)
					time.Sleep(time.Hour)
					if _, _, _, err := s.End(); err != nil {
						t.Errorf("the subscription has ended: %v", err)
					}
				})
			})
		}
	}
}

// TestGroupsBeforeTheRequest: a peer may guess the id of a subscription that it has
// not been asked for yet.
func TestGroupsBeforeTheRequest(t *testing.T) {
	eachVersion(t, lite.V01, func(t *testing.T, v lite.Version) {
		relay := newSide(3)
		peer := relay.announcer(t, v)
		if !v.HasTrackInfo() {
			peer.peer.change(func() { peer.peer.noBidi = true })
		}
		s := relay.subscribe(t, moq.SubscribeOptions{})
		if v.HasTrackInfo() {
			peer.peer.change(func() { peer.peer.noBidi = true })
			answerTrack(t, peer, v)
			synctest.Wait()
		}
		send(t, peer, v, []uint64{0})
		peer.peer.change(func() { peer.peer.noBidi = false })
		synctest.Wait()
		if got := groups(t, s); len(got) != 1 {
			t.Errorf("groups %v, want the one that came", got)
		}
	})
}

// TestFetchIsAnsweredInTime: also where the publisher is mute, or too old to be
// asked while nobody subscribes.
func TestFetchIsAnsweredInTime(t *testing.T) {
	for _, v := range []lite.Version{lite.V03, lite.V06} {
		t.Run(v.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				relay := newSide(3)
				peer := relay.announcer(t, v)
				viewer, _ := serveRaw(t, lite.V06, relay)
				start := time.Now()
				s := ask(t, viewer, request(lite.V06, lite.StreamFetch, lite.Fetch{Broadcast: camera, Track: "v", Group: 4}))
				if v.HasFetch() { // say what the track is and no more
					q, _ := accept(t, peer)
					q.Write(lite.TrackInfo{Timescale: 1000}.Append(nil, v))
					q.Close()
				}
				if _, err := io.ReadAll(s); code(err) != int(session.StreamControlTimeout) {
					t.Errorf("the answer is %v, want control timeout", err)
				}
				if took := time.Since(start); took != 10*time.Second {
					t.Errorf("after %v, want 10s", took)
				}
				synctest.Wait()
				if n := relay.counters.TimedOut.Load(); n == 0 {
					t.Error("no timeout counted")
				}
			})
		})
	}
}

// TestAnnounceRequestsAreBounded: each remembers every path that it tells.
func TestAnnounceRequestsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const v = lite.V06
		relay := newSide(3)
		relay.conf.Limits.AnnounceRequests = 2
		peer, _ := serveRaw(t, v, relay)
		q := request(v, lite.StreamAnnounce, lite.AnnounceRequest{})
		first := ask(t, peer, q)
		ask(t, peer, q)
		synctest.Wait()
		if _, err := io.ReadAll(ask(t, peer, q)); code(err) != int(session.StreamNoCapacity) {
			t.Errorf("one too many: %v, want no capacity", err)
		}
		if n := relay.counters.Limited.Load(); n != 1 {
			t.Errorf("%d refusals counted, want 1", n)
		}
		first.Close()
		synctest.Wait()
		s := ask(t, peer, q)
		if _, err := s.Read(make([]byte, 8)); err != nil {
			t.Errorf("after one has ended: %v", err)
		}
	})
}

// TestGroupAfterTheEnd: from 06 on that breaks the track, before that only the
// stream (§8.4).
func TestGroupAfterTheEnd(t *testing.T) {
	eachVersion(t, lite.V05, func(t *testing.T, v lite.Version) {
		relay := newSide(3)
		peer := relay.announcer(t, v)
		s := relay.subscribe(t, moq.SubscribeOptions{})
		info, _ := accept(t, peer)
		info.Write(lite.TrackInfo{Timescale: 1000}.Append(nil, v))
		info.Close()
		answers, _ := accept(t, peer)
		answers.Write(lite.SubscribeStart{Group: 0}.Append(nil, v))
		answers.Write(lite.SubscribeEnd{Group: 1, Streams: 1}.Append(nil, v))
		synctest.Wait()
		say(t, peer, lite.AppendGroupStream(nil, v, lite.GroupHeader{Sequence: 1}))
		synctest.Wait()
		_, _, _, err := s.End()
		if want := v >= lite.V06; errors.Is(err, moq.ErrMalformed) != want {
			t.Errorf("the track ends with %v, malformed is %v", err, want)
		}
	})
}

// TestProbeWithoutARate: 03 cannot say a round trip, so nothing is sent (§11).
func TestProbeWithoutARate(t *testing.T) {
	for v, want := range map[lite.Version]string{lite.V03: "", lite.V04: "\x02\x00\x14"} {
		t.Run(v.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				peer, _ := serveRaw(t, v, newSide(3))
				peer.peer.rtt = 20 * time.Millisecond
				s := ask(t, peer, lite.StreamProbe.Append(nil, v))
				time.Sleep(time.Minute)
				s.Close()
				b, _ := io.ReadAll(s)
				if got := string(b[:min(3, len(b))]); got != want {
					t.Errorf("reports begin with %x, want %x", got, want)
				}
			})
		})
	}
}

// TestHalfOpenStreams: what a peer opens and leaves incomplete holds a bounded number
// of slots. They come back when a stream is completed, is given up, or stays silent.
func TestHalfOpenStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		relay := newSide(3)
		relay.conf.Limits.Opening = 3
		peer, _ := serveRaw(t, lite.V05, relay)
		half := func() session.SendStream {
			s, err := peer.OpenUniStream()
			if err != nil {
				t.Fatal(err)
			}
			s.Write([]byte{0}) // a group without its header
			synctest.Wait()
			return s
		}
		refusals := func(when string, want uint64) {
			t.Helper()
			synctest.Wait()
			if got := relay.counters.Limited.Load(); got != want {
				t.Errorf("%s: %d refused, want %d", when, got, want)
			}
		}
		first, second := half(), half()
		request := ask(t, peer, []byte{2}) // a subscription without its message
		refusals("three are half open", 0)
		half()
		refusals("a fourth", 1)
		if _, err := ask(t, peer, []byte{2}).Read(make([]byte, 1)); err == nil {
			t.Error("a request too many is not refused")
		}
		refusals("a fifth", 2)
		first.Reset(session.StreamCancelled)
		second.Write([]byte{2, 9, 0}) // of a subscription that is not there
		request.Reset(session.StreamCancelled)
		synctest.Wait()
		for range 3 {
			half()
		}
		refusals("three slots are back", 2)
		half()
		refusals("and no more", 3)
		time.Sleep(session.DefaultLimits.Request + time.Second)
		for range 3 {
			half()
		}
		refusals("silent ones are given up", 3)
	})
}
