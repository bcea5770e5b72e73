package session_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// side is one end of a session: an origin and what it may do there.
type side struct {
	origin   *moq.Origin
	access   session.Access
	conf     session.Config
	counters *session.Counters
}

func newSide(id uint64) *side {
	s := &side{origin: moq.NewOrigin(id, moq.NewCache(0)), counters: new(session.Counters)}
	s.access.Origin = s.origin
	s.conf.Setup.Hop = id
	return s
}

// running is a session under way.
type running struct {
	*session.Session
	conn  *fakeConn
	ended chan error
}

// run starts one end.
func (s *side) run(t *testing.T, c *fakeConn, v lite.Version, server bool) *running {
	r := &running{conn: c, ended: make(chan error, 1)}
	conf := s.conf
	conf.Version, conf.Server, conf.Counters = v, server, s.counters
	if !v.HasSetup() && v < lite.V03 {
		conf.Version, conf.Legacy = 0, []lite.Version{v}
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		var err error
		r.Session, err = session.Handshake(ctx, c, conf)
		cancel()
		if err != nil {
			r.ended <- err
			return
		}
		r.ended <- r.Run(context.Background(), s.access)
	}()
	t.Cleanup(func() { c.Close(session.CodeNoError, "") })
	return r
}

// keep lets time pass for the side's routes until the test ends.
func (s *side) keep(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	go session.Keep(ctx, s.origin)
}

// join connects two sides.
func join(t *testing.T, v lite.Version, client, server *side) (c, s *running) {
	t.Helper()
	cc, sc := newFakeConns()
	s = server.run(t, sc, v, true)
	c = client.run(t, cc, v, false)
	synctest.Wait()
	if c.Session == nil || s.Session == nil {
		t.Fatalf("no session on %v", v)
	}
	return c, s
}

// mesh is a publisher and a viewer with a relay between them.
type mesh struct {
	publisher, relay, viewer *side
	up, down                 *running // the clients' ends
	b                        *moq.Broadcast
	handle                   *moq.Announcement
}

const camera = "room/cam"

func newMesh(t *testing.T, v lite.Version) *mesh {
	t.Helper()
	m := &mesh{publisher: newSide(1), relay: newSide(3), viewer: newSide(2)}
	m.up, _ = join(t, v, m.publisher, m.relay)
	m.down, _ = join(t, v, m.viewer, m.relay)
	m.b = moq.NewBroadcast(m.publisher.origin.Cache(), nil)
	m.handle = m.publisher.origin.Publish(camera, m.b)
	synctest.Wait()
	return m
}

// create adds the track "v" to the publisher's broadcast.
func (m *mesh) create(t *testing.T) *moq.TrackWriter {
	t.Helper()
	w, err := m.b.Create("v", moq.TrackInfo{Priority: 9, MaxAge: 5 * time.Second, Timescale: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// remote is the publisher's broadcast as a side sees it.
func (s *side) remote(t *testing.T) *moq.Broadcast {
	t.Helper()
	b, _, err := s.origin.Find(camera, moq.Reader{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (s *side) subscribe(t *testing.T, o moq.SubscribeOptions) *moq.Subscription {
	t.Helper()
	sub, err := s.remote(t).Subscribe(moq.TrackKey{Name: "v"}, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sub.Close)
	synctest.Wait()
	return sub
}

// write publishes a group of one frame.
func write(t *testing.T, w *moq.TrackWriter, sequence uint64, payload string) {
	t.Helper()
	if err := w.WriteGroup(sequence, moq.Frame{Timestamp: sequence * 100, Payload: []byte(payload)}); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// groups reads what has come by now, as "sequence:payload|payload".
func groups(t *testing.T, s *moq.Subscription) (list []string) {
	t.Helper()
	for r, ok := s.Next(); ok; r, ok = s.Next() {
		list = append(list, text(t, &r))
	}
	return list
}

// sorted puts groups that came on streams of their own, in any order, in order.
func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

func text(t *testing.T, r *moq.GroupReader) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s := ""
	for {
		f, ok, err := r.ReadFrame(ctx)
		switch {
		case err != nil:
			return s + "!" + err.Error()
		case !ok:
			return s
		}
		s += string(f.Payload)
	}
}

// eachVersion runs f in a bubble for every version from the given one on.
func eachVersion(t *testing.T, from lite.Version, f func(*testing.T, lite.Version)) {
	t.Helper()
	for v := from; v <= lite.V07WIP; v++ {
		t.Run(v.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, v) })
		})
	}
}
