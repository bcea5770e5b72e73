package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// link is a publisher and a viewer with a relay between them.
type link struct {
	publisher, viewer interface {
		Goaway(context.Context, string) error
	}
	from, to *moq.Origin
	b        *moq.Broadcast
	handle   *moq.Announcement
}

const name = "room/cam"

var info = moq.TrackInfo{Priority: 9, MaxAge: 5 * time.Second, Timescale: 1000}

func connect(t *testing.T, v lite.Version) *link {
	t.Helper()
	url := "moqt://" + listen(t, []lite.Version{v}) + "/"
	l := &link{}
	l.publisher, l.from = dial(t, url, v, lite.RolePublisher)
	l.viewer, l.to = dial(t, url, v, lite.RoleSubscriber)
	l.publish()
	return l
}

func (l *link) publish() {
	l.b = moq.NewBroadcast(l.from.Cache(), nil)
	l.handle = l.from.Publish(name, l.b)
}

// find waits until the viewer sees the broadcast.
func (l *link) find(t *testing.T, ctx context.Context) *moq.Broadcast {
	t.Helper()
	w := l.to.Watch(name, moq.Reader{})
	defer w.Close()
	for {
		ev, err := w.Wait(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if ev.Change != moq.Ended {
			return ev.Broadcast
		}
	}
}

func (l *link) gone(t *testing.T, ctx context.Context) {
	t.Helper()
	w := l.to.Watch(name, moq.Reader{})
	defer w.Close()
	for {
		if _, _, err := l.to.Find(name, moq.Reader{}); err != nil {
			return
		}
		if _, err := w.Wait(ctx); err != nil {
			t.Fatal("still announced:", err)
		}
	}
}

func read(t *testing.T, b *moq.Broadcast, o moq.SubscribeOptions) *moq.Subscription {
	t.Helper()
	s, err := b.Subscribe(moq.TrackKey{Name: "v"}, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// eachVersion runs a scenario on every version from the given one on.
func eachVersion(t *testing.T, from lite.Version, run func(*testing.T, context.Context, *link, lite.Version)) {
	for v := from; v <= lite.V07WIP; v++ {
		t.Run(v.String(), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			run(t, ctx, connect(t, v), v)
		})
	}
}

// TestAnnounceToServe is scenario H1: announced, withdrawn, announced again.
func TestAnnounceToServe(t *testing.T) {
	eachVersion(t, lite.V01, func(t *testing.T, ctx context.Context, l *link, v lite.Version) {
		w, err := l.b.Create("v", info)
		if err != nil {
			t.Fatal(err)
		}
		s := read(t, l.find(t, ctx), moq.SubscribeOptions{MaxAge: time.Second})
		w.WriteGroup(0, moq.Frame{Timestamp: 1, Payload: []byte("old")})
		expect(t, ctx, s, 0, "old")
		l.handle.Withdraw()
		l.gone(t, ctx)
		w.WriteGroup(1, moq.Frame{Timestamp: 2, Payload: []byte("runs on")})
		expect(t, ctx, s, 1, "runs on")
		l.publish()
		fresh, err := l.b.Create("v", info)
		if err != nil {
			t.Fatal(err)
		}
		again := read(t, l.find(t, ctx), moq.SubscribeOptions{MaxAge: time.Second})
		fresh.WriteGroup(0, moq.Frame{Timestamp: 3, Payload: []byte("new")})
		expect(t, ctx, again, 0, "new")
	})
}

// TestFinishedBroadcast is scenario H3: all content and a clean end, though track
// and broadcast end in one step.
func TestFinishedBroadcast(t *testing.T) {
	eachVersion(t, lite.V01, func(t *testing.T, ctx context.Context, l *link, v lite.Version) {
		w, err := l.b.Create("v", info)
		if err != nil {
			t.Fatal(err)
		}
		s := read(t, l.find(t, ctx), moq.SubscribeOptions{MaxAge: time.Second})
		w.WriteGroup(0, moq.Frame{Timestamp: 1, Payload: []byte("a")})
		expect(t, ctx, s, 0, "a")
		w.WriteGroup(1, moq.Frame{Timestamp: 2, Payload: []byte("b")})
		w.Finish()
		l.handle.Withdraw()
		expect(t, ctx, s, 1, "b")
		if _, ok, err := s.NextGroup(ctx); ok || err != nil {
			t.Errorf("end: %v, %v", ok, err)
		}
	})
}

// TestAbortedTrack is scenario H4: the viewer sees the error, and a track of the
// same name starts with new content.
func TestAbortedTrack(t *testing.T) {
	eachVersion(t, lite.V03, func(t *testing.T, ctx context.Context, l *link, v lite.Version) {
		w, err := l.b.Create("v", info)
		if err != nil {
			t.Fatal(err)
		}
		b := l.find(t, ctx)
		s := read(t, b, moq.SubscribeOptions{MaxAge: time.Second})
		w.WriteGroup(0, moq.Frame{Timestamp: 1, Payload: []byte("old")})
		expect(t, ctx, s, 0, "old")
		w.Abort(moq.ErrNotFound)
		if _, ok, err := s.NextGroup(ctx); ok || !errors.Is(err, moq.ErrNotFound) {
			t.Errorf("after the abort: %v, %v, want not found", ok, err)
		}
		if w, err = l.b.Create("v", info); err != nil {
			t.Fatal(err)
		}
		again := read(t, b, moq.SubscribeOptions{MaxAge: time.Second})
		w.WriteGroup(0, moq.Frame{Timestamp: 5, Payload: []byte("new")})
		expect(t, ctx, again, 0, "new")
	})
}

// TestDatagrams is scenario H9: in order, intact, with the numbers they had.
func TestDatagrams(t *testing.T) {
	eachVersion(t, lite.V05, func(t *testing.T, ctx context.Context, l *link, v lite.Version) {
		w, err := l.b.Create("v", info)
		if err != nil {
			t.Fatal(err)
		}
		wake := make(chan struct{}, 1)
		s, err := l.find(t, ctx).Subscribe(moq.TrackKey{Name: "v"}, moq.SubscribeOptions{}, func() {
			select {
			case wake <- struct{}{}:
			default:
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for d, changed := w.Demand(); d.Subscribers == 0; d, changed = w.Demand() {
			<-changed // datagrams do not wait for readers
		}
		for _, n := range []uint64{3, 4, 9} {
			w.WriteDatagram(moq.Datagram{Sequence: n, Timestamp: n * 10, Payload: []byte{byte(n)}})
		}
		for _, n := range []uint64{3, 4, 9} {
			d, ok := s.NextDatagram()
			for ; !ok; d, ok = s.NextDatagram() {
				select {
				case <-wake:
				case <-ctx.Done():
					t.Fatalf("datagram %d did not come", n)
				}
			}
			if d.Sequence != n || d.Timestamp != n*10 || string(d.Payload) != string(rune(n)) {
				t.Errorf("datagram %+v, want %d", d, n)
			}
		}
	})
}

// TestCancelledRequest is scenario H5: nobody waits for the track any more, so
// the request ends at the publisher too.
func TestCancelledRequest(t *testing.T) {
	for _, v := range []lite.Version{lite.V05, lite.V06} {
		t.Run(v.String(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			l := connect(t, v)
			src := &muteSource{opened: make(chan *moq.TrackWriter, 1)}
			l.handle.Withdraw()
			l.b = moq.NewBroadcast(l.from.Cache(), src)
			l.handle = l.from.Publish("mute", l.b)
			w := l.to.Watch("mute", moq.Reader{})
			defer w.Close()
			ev, err := w.Wait(ctx)
			if err != nil {
				t.Fatal(err)
			}
			s := read(t, ev.Broadcast, moq.SubscribeOptions{})
			asked := <-src.opened
			s.Close()
			for {
				d, changed := asked.Demand()
				if d.Holders == 0 {
					break
				}
				select {
				case <-changed:
				case <-ctx.Done():
					t.Fatal("the publisher still believes that somebody waits")
				}
			}
		})
	}
}

// muteSource never answers.
type muteSource struct{ opened chan *moq.TrackWriter }

func (m *muteSource) Open(w *moq.TrackWriter) { m.opened <- w }

func (m *muteSource) Fetch(moq.TrackKey, *moq.GroupWriter, uint64, uint8) func() { return nil }

// TestGoaway is scenarios I4 and I6: new requests to a peer that leaves fail, what
// runs goes on.
func TestGoaway(t *testing.T) {
	eachVersion(t, lite.V04, func(t *testing.T, ctx context.Context, l *link, v lite.Version) {
		w, err := l.b.Create("v", info)
		if err != nil {
			t.Fatal(err)
		}
		b := l.find(t, ctx)
		s := read(t, b, moq.SubscribeOptions{MaxAge: time.Second})
		w.WriteGroup(0, moq.Frame{Timestamp: 1, Payload: []byte("a")})
		expect(t, ctx, s, 0, "a")
		if err := l.publisher.Goaway(ctx, ""); err != nil {
			t.Fatal(err)
		}
		w.WriteGroup(1, moq.Frame{Timestamp: 2, Payload: []byte("b")})
		expect(t, ctx, s, 1, "b")
		other, err := b.Subscribe(moq.TrackKey{Name: "other"}, moq.SubscribeOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if _, ok, err := other.NextGroup(ctx); ok || err == nil {
			t.Errorf("a new track from a leaving publisher: %v, %v, want an error", ok, err)
		}
	})
}

// TestUpdateRaisesTheCap follows a group end through the relay (§8.2).
func TestUpdateRaisesTheCap(t *testing.T) {
	eachVersion(t, lite.V03, func(t *testing.T, ctx context.Context, l *link, v lite.Version) {
		w, err := l.b.Create("v", info)
		if err != nil {
			t.Fatal(err)
		}
		for n := range uint64(3) {
			w.WriteGroup(n, moq.Frame{Timestamp: n, Payload: []byte{'a' + byte(n)}})
		}
		o := moq.SubscribeOptions{MaxAge: 5 * time.Second, Start: moq.Start{Kind: moq.StartAt, Group: 1}, End: moq.Limit{Set: true, V: 1}}
		s := read(t, l.find(t, ctx), o)
		expect(t, ctx, s, 1, "b")
		o.End.V = 2
		s.Update(o)
		expect(t, ctx, s, 2, "c")
	})
}
