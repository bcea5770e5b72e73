package session_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// TestJoinAndFollow: a late viewer begins at the newest group, or where it asks to
// (§14.3), follows what comes, whole or in pieces, and sees the end.
func TestJoinAndFollow(t *testing.T) {
	eachVersion(t, lite.V01, func(t *testing.T, v lite.Version) {
		m := newMesh(t, v)
		w := m.create(t)
		for n := range uint64(3) {
			write(t, w, n, fmt.Sprintf("old %d", n))
		}
		s := m.viewer.subscribe(t, moq.SubscribeOptions{MaxAge: time.Second, Start: moq.Start{Kind: moq.StartFresh}})
		want := []string{"old 2"}
		if v >= lite.V06 {
			want = []string{"old 0", "old 1", "old 2"}
		}
		if diff := cmp.Diff(want, sorted(groups(t, s))); diff != "" {
			t.Errorf("at first (-want +got):\n%s", diff)
		}
		g, err := w.Group(3)
		if err != nil {
			t.Fatal(err)
		}
		g.WriteFrame(moq.Frame{Timestamp: 300, Payload: []byte("a")})
		synctest.Wait()
		r, ok := s.Next()
		if !ok {
			t.Fatal("an open group does not arrive")
		}
		if f, ok, err := r.ReadFrame(t.Context()); !ok || err != nil || string(f.Payload) != "a" {
			t.Errorf("first frame of an open group: %v, %v, %v", f, ok, err)
		}
		g.BeginFrame(301, 2)
		g.Write([]byte("b"))
		g.Flush()
		synctest.Wait()
		if p, _, ok, _ := r.Next(); v >= lite.V05 && (!ok || string(p.Payload) != "b" || p.Size != 2) {
			t.Errorf("half a frame: %+v, %v", p, ok)
		}
		g.Write([]byte("c"))
		g.Close()
		w.Finish()
		synctest.Wait()
		time.Sleep(3 * time.Second) // before 05 nothing says how many groups there are
		if got := groups(t, s); len(got) != 0 {
			t.Errorf("more groups: %q", got)
		}
		if _, _, complete, err := s.End(); !complete || err != nil {
			t.Errorf("complete %v, %v", complete, err)
		}
	})
}

// TestCutGroupsAreReset: a group that did not come whole never looks whole (A19).
func TestCutGroupsAreReset(t *testing.T) {
	for name, cut := range map[string]func(m *mesh, w *moq.TrackWriter, g *moq.GroupWriter){
		"session lost":    func(m *mesh, _ *moq.TrackWriter, _ *moq.GroupWriter) { m.up.conn.Close(session.CodeInternal, "") },
		"group aborted":   func(_ *mesh, _ *moq.TrackWriter, g *moq.GroupWriter) { g.Abort(moq.ErrCancelled) },
		"frame too short": func(_ *mesh, _ *moq.TrackWriter, g *moq.GroupWriter) { g.Close() },
		"track aborted":   func(_ *mesh, w *moq.TrackWriter, _ *moq.GroupWriter) { w.Abort(moq.ErrNotFound) },
	} {
		t.Run(name, func(t *testing.T) {
			eachVersion(t, lite.V01, func(t *testing.T, v lite.Version) {
				m := newMesh(t, v)
				w := m.create(t)
				s := m.viewer.subscribe(t, moq.SubscribeOptions{MaxAge: time.Second})
				g, err := w.Group(0)
				if err != nil {
					t.Fatal(err)
				}
				g.WriteFrame(moq.Frame{Payload: []byte("whole")})
				g.BeginFrame(1, 10)
				g.Write([]byte("half"))
				g.Flush()
				synctest.Wait()
				r, ok := s.Next()
				if !ok {
					t.Fatal("no group")
				}
				cut(m, w, g)
				synctest.Wait()
				if r.Err() == nil {
					t.Errorf("a cut group reads %q", text(t, &r))
				}
			})
		})
	}
}

// TestLeavingStopsThePublisher: once the last viewer has left, the publisher is told
// on the subscribe stream and on each open group (A21).
func TestLeavingStopsThePublisher(t *testing.T) {
	eachVersion(t, lite.V03, func(t *testing.T, v lite.Version) {
		relay := newSide(3)
		peer := relay.announcer(t, v)
		s := relay.subscribe(t, moq.SubscribeOptions{})
		if v.HasTrackInfo() {
			info, _ := accept(t, peer)
			info.Write(lite.TrackInfo{Timescale: 1000}.Append(nil, v))
			info.Close()
		}
		answers, _ := accept(t, peer)
		g, err := peer.OpenUniStream()
		if err != nil {
			t.Fatal(err)
		}
		g.Write(lite.AppendFrameHeader(lite.AppendGroupStream(nil, v, lite.GroupHeader{}), v, 0, 1000))
		synctest.Wait()
		if _, ok := s.Next(); !ok {
			t.Fatal("no group")
		}
		s.Close()
		synctest.Wait()
		if _, err := g.Write([]byte("x")); code(err) != int(session.StreamCancelled) {
			t.Errorf("group stream: %v, want cancelled", err)
		}
		if b, err := io.ReadAll(answers); err != nil || len(b) > 0 {
			t.Errorf("subscribe stream: %x, %v, want FIN", b, err)
		}
		// A group that was on its way costs only its stream.
		late := say(t, peer, lite.AppendGroupStream(nil, v, lite.GroupHeader{Sequence: 1}))
		synctest.Wait()
		if late.stopped == nil && len(late.buf) > 0 {
			t.Error("a group of the left subscription is not stopped")
		}
		if peer.Context().Err() != nil {
			t.Error("the session has ended")
		}
	})
}

// TestRefetchAfterLeaving is scenario H8: what was cut short because nobody read is
// there in full when asked for.
func TestRefetchAfterLeaving(t *testing.T) {
	eachVersion(t, lite.V05, func(t *testing.T, v lite.Version) {
		m := newMesh(t, v)
		w := m.create(t)
		s := m.viewer.subscribe(t, moq.SubscribeOptions{MaxAge: time.Second})
		g, err := w.Group(0)
		if err != nil {
			t.Fatal(err)
		}
		g.WriteFrame(moq.Frame{Payload: []byte("a")})
		synctest.Wait()
		if _, ok := s.Next(); !ok {
			t.Fatal("no group")
		}
		s.Close()
		synctest.Wait()
		g.WriteFrame(moq.Frame{Timestamp: 1, Payload: []byte("b")})
		g.Close()
		track, err := m.viewer.remote(t).Hold(moq.TrackKey{Name: "v"})
		if err != nil {
			t.Fatal(err)
		}
		defer track.Drop()
		f, err := track.Fetch(t.Context(), 0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if got := text(t, &f.GroupReader); got != "ab" {
			t.Errorf("fetched %q, want ab", got)
		}
	})
}

// TestEndSurvivesTheSession is scenario H11: what a finished track holds is read to
// its end though the publisher is gone.
func TestEndSurvivesTheSession(t *testing.T) {
	eachVersion(t, lite.V01, func(t *testing.T, v lite.Version) {
		m := newMesh(t, v)
		w := m.create(t)
		write(t, w, 0, "a")
		s := m.viewer.subscribe(t, moq.SubscribeOptions{MaxAge: time.Second})
		write(t, w, 1, "b")
		w.Finish()
		time.Sleep(3 * time.Second)
		m.down.conn.Close(session.CodeInternal, "lost")
		m.up.conn.Close(session.CodeInternal, "lost")
		synctest.Wait()
		if diff := cmp.Diff([]string{"a", "b"}, groups(t, s)); diff != "" {
			t.Errorf("groups (-want +got):\n%s", diff)
		}
		if _, ok, err := s.NextGroup(t.Context()); ok || err != nil {
			t.Errorf("end: %v, %v", ok, err)
		}
	})
}

// TestPublisherIsReplaced is scenario H15: after a crash another publisher takes the
// name, and readers get only what it sends.
func TestPublisherIsReplaced(t *testing.T) {
	eachVersion(t, lite.V01, func(t *testing.T, v lite.Version) {
		m := newMesh(t, v)
		w := m.create(t)
		write(t, w, 0, "old")
		s := m.viewer.subscribe(t, moq.SubscribeOptions{MaxAge: time.Second})
		if diff := cmp.Diff([]string{"old"}, groups(t, s)); diff != "" {
			t.Fatalf("groups (-want +got):\n%s", diff)
		}
		m.up.conn.Close(session.CodeInternal, "crash")
		synctest.Wait()
		if _, _, err := m.viewer.origin.Find(camera, moq.Reader{}); !errors.Is(err, moq.ErrUnroutable) {
			t.Errorf("after the crash: %v, want unroutable", err)
		}
		if _, _, _, err := s.End(); err == nil {
			t.Error("the subscription goes on without a publisher")
		}
		second := newSide(7)
		join(t, v, second, m.relay)
		m.b = moq.NewBroadcast(second.origin.Cache(), nil)
		second.origin.Publish(camera, m.b)
		write(t, m.create(t), 0, "new")
		if diff := cmp.Diff([]string{"new"}, groups(t, m.viewer.subscribe(t, moq.SubscribeOptions{MaxAge: time.Second}))); diff != "" {
			t.Errorf("groups (-want +got):\n%s", diff)
		}
	})
}

// local publishes the camera at the side itself.
func (s *side) local(t *testing.T, track string) *moq.TrackWriter {
	t.Helper()
	b, _, err := s.origin.Find(camera, moq.Reader{})
	if err != nil {
		b = moq.NewBroadcast(s.origin.Cache(), nil)
		s.origin.Publish(camera, b)
	}
	w, err := b.Create(track, moq.TrackInfo{MaxAge: 5 * time.Second, Timescale: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestSlowViewer: who does not read loses whole groups, gets the newest when it
// reads again, and costs the others nothing (A26, A27).
func TestSlowViewer(t *testing.T) {
	eachVersion(t, lite.V03, func(t *testing.T, v lite.Version) {
		relay := newSide(3)
		relay.conf.Limits.OpenGroups = 8
		w := relay.local(t, "v")
		healthy := newSide(2)
		join(t, v, healthy, relay)
		s := healthy.subscribe(t, moq.SubscribeOptions{MaxAge: time.Second})
		peer, _ := serveRaw(t, v, relay)
		peer.peer.window = 1000 // a stream takes no more until it is read
		ask(t, peer, request(v, lite.StreamSubscribe, lite.Subscribe{
			Broadcast: camera, Track: "v", Preferences: lite.Preferences{MaxAge: time.Second},
		}))
		synctest.Wait()

		big := strings.Repeat("x", 5000)
		for n := range uint64(100) {
			write(t, w, n, big)
			if got := groups(t, s); len(got) != 1 || got[0] != big {
				t.Fatalf("the healthy viewer has %d groups after group %d", len(got), n)
			}
		}
		reset := 0
		var whole []uint64
		for {
			peer.mu.Lock()
			left := len(peer.uni)
			peer.mu.Unlock()
			if left == 0 {
				break
			}
			stream, _ := peer.AcceptUniStream(t.Context())
			b, err := io.ReadAll(stream)
			if len(b) > 0 && lite.UniStream(b[0]) != lite.StreamGroup {
				continue
			}
			if err != nil {
				reset++
				continue
			}
			h, n, err := lite.ParseGroupHeader(b[1:], v)
			if err != nil || len(b)-n < len(big) {
				t.Fatalf("a group of %d bytes, %v", len(b), err)
			}
			whole = append(whole, h.Sequence)
		}
		if reset != 92 || len(whole) != 8 || whole[7] != 99 {
			t.Errorf("%d groups reset, whole are %d, want the newest 8", reset, whole)
		}
		if got := relay.counters.GroupsReset.Load() + relay.counters.GroupsSkipped.Load(); got != 92 {
			t.Errorf("%d groups counted as lost, want 92", got)
		}
		if peer.Context().Err() != nil {
			t.Error("the slow viewer's session has ended")
		}
	})
}

// TestNoStreamCredit: without streams to send groups on they wait, age, and the
// newest goes out once there is credit.
func TestNoStreamCredit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const v = lite.V06
		relay := newSide(3)
		w := relay.local(t, "v")
		viewer := newSide(2)
		_, served := join(t, v, viewer, relay)
		s := viewer.subscribe(t, moq.SubscribeOptions{MaxAge: 250 * time.Millisecond, Start: moq.Start{Kind: moq.StartFresh}})
		served.conn.change(func() { served.conn.noUni = true })
		for n := range uint64(20) {
			write(t, w, n, fmt.Sprint(n))
		}
		if got := groups(t, s); got != nil {
			t.Fatalf("groups %q without a stream", got)
		}
		served.conn.change(func() { served.conn.noUni = false })
		time.Sleep(time.Second)
		// Group 17 reaches to group 18, 100 ms behind the edge; 16 to 200 ms; 15 to 300.
		if diff := cmp.Diff([]string{"16", "17", "18", "19"}, sorted(groups(t, s))); diff != "" {
			t.Errorf("groups (-want +got):\n%s", diff)
		}
	})
}

// TestUrgencies: of two tracks the one of the higher priority goes first, of two
// groups the newer (§14.1, A30).
func TestUrgencies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const v = lite.V06
		relay := newSide(3)
		video, audio := relay.local(t, "v"), relay.local(t, "a")
		peer, _ := serveRaw(t, v, relay)
		peer.peer.window = 100
		peer.peer.opened = nil
		update := ask(t, peer, request(v, lite.StreamSubscribe, lite.Subscribe{
			ID: 0, Broadcast: camera, Track: "v", Preferences: lite.Preferences{Priority: 1, MaxAge: time.Minute},
		}))
		ask(t, peer, request(v, lite.StreamSubscribe, lite.Subscribe{
			ID: 1, Broadcast: camera, Track: "a", Preferences: lite.Preferences{Priority: 200, MaxAge: time.Minute},
		}))
		synctest.Wait()
		big := strings.Repeat("x", 1000)
		write(t, video, 0, big)
		write(t, video, 1, big)
		write(t, audio, 0, big)
		streams := peer.peer.opened
		if len(streams) != 3 {
			t.Fatalf("%d group streams, want 3", len(streams))
		}
		older, newer, sound := streams[0].urgency, streams[1].urgency, streams[2].urgency
		if !(sound < newer && newer < older) {
			t.Errorf("urgencies: audio %d, newer video %d, older video %d; want them to rise", sound, newer, older)
		}
		update.Write(lite.SubscribeUpdate{Preferences: lite.Preferences{Priority: 255, MaxAge: time.Minute}}.Append(nil, v))
		synctest.Wait()
		if newer, sound := streams[1].urgency, streams[2].urgency; newer >= sound {
			t.Errorf("after the update: video %d, audio %d", newer, sound)
		}
	})
}

// TestIdleSessionsRest is scenario H13: where nothing happens nothing is done.
func TestIdleSessionsRest(t *testing.T) {
	eachVersion(t, lite.V01, func(t *testing.T, v lite.Version) {
		m := newMesh(t, v)
		w := m.create(t)
		write(t, w, 0, "x")
		s := m.viewer.subscribe(t, moq.SubscribeOptions{MaxAge: time.Second})
		groups(t, s)
		time.Sleep(time.Minute)
		before := m.down.conn.touched.Load() + m.down.conn.peer.touched.Load()
		time.Sleep(10 * time.Minute)
		if n := m.down.conn.touched.Load() + m.down.conn.peer.touched.Load() - before; n != 0 {
			t.Errorf("the connection of an idle viewer was touched %d times in 10 minutes", n)
		}
	})
}

// inBubble counts the goroutines of the bubble that is running: runtime.NumGoroutine
// counts those of the run time too, which come and go.
func inBubble() int {
	b := make([]byte, 4<<20)
	return bytes.Count(b[:runtime.Stack(b, true)], []byte("synctest bubble"))
}

// TestGoroutineBudget: what a session and a subscription may cost (A29).
func TestGoroutineBudget(t *testing.T) {
	eachVersion(t, lite.V01, func(t *testing.T, v lite.Version) {
		relay, viewer := newSide(3), newSide(2)
		count := func() int { synctest.Wait(); return inBubble() }
		start := count()
		c, _ := join(t, v, viewer, relay)
		// On each side: its caller, the sender, two that accept, one that reads
		// announcements, and two that tell them. On 01 and 02 the SETUP stream too.
		idle := count()
		if n, most := idle-start, 2*8; n > most {
			t.Errorf("a session costs %d goroutines at both ends, want at most %d", n, most)
		}
		const subscriptions = 10
		for n := range subscriptions {
			relay.local(t, fmt.Sprint(n))
		}
		synctest.Wait()
		var subs []*moq.Subscription
		for n := range subscriptions {
			s, err := viewer.remote(t).Subscribe(moq.TrackKey{Name: fmt.Sprint(n)}, moq.SubscribeOptions{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			subs = append(subs, s)
		}
		// One that serves and one that reads updates; one that asks and one that
		// reads answers.
		if n, most := count()-idle, 4*subscriptions+1; n > most {
			t.Errorf("%d subscriptions cost %d goroutines, want at most %d", subscriptions, n, most)
		}
		for _, s := range subs {
			s.Close()
		}
		time.Sleep(time.Minute)         // past the time that tracks are kept
		if n := count() - idle; n > 1 { // the reader of datagrams stays
			t.Errorf("%d goroutines are left of the subscriptions", n)
		}
		c.conn.Close(session.CodeNoError, "")
		if n := count() - start; n > 0 {
			t.Errorf("%d goroutines are left of the session", n)
		}
	})
}

// TestDatagramsKeepTheirNumbers is scenario H9.
func TestDatagramsKeepTheirNumbers(t *testing.T) {
	eachVersion(t, lite.V05, func(t *testing.T, v lite.Version) {
		m := newMesh(t, v)
		w := m.create(t)
		s := m.viewer.subscribe(t, moq.SubscribeOptions{})
		want := []moq.Datagram{{Sequence: 3, Timestamp: 30, Payload: []byte("c")}, {Sequence: 9, Timestamp: 90, Payload: bytes.Repeat([]byte("i"), 1100)}}
		for _, d := range want {
			w.WriteDatagram(d)
		}
		synctest.Wait()
		var got []moq.Datagram
		for d, ok := s.NextDatagram(); ok; d, ok = s.NextDatagram() {
			got = append(got, d)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("datagrams (-want +got):\n%s", diff)
		}
		if n := m.relay.counters.Egress.Datagrams.Load(); n != 2 {
			t.Errorf("%d datagrams counted, want 2", n)
		}
	})
}
