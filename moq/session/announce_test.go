package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// pricer is a raw peer that announces one path at changing prices and hops.
type pricer struct {
	t      *testing.T
	v      lite.Version
	conn   *fakeConn
	stream session.Stream
	live   bool
}

func (s *side) pricer(t *testing.T, v lite.Version) *pricer {
	t.Helper()
	s.keep(t)
	p := &pricer{t: t, v: v}
	p.conn, _ = serveRaw(t, v, s)
	p.stream, _ = accept(t, p.conn)
	if v.HasAnnounceOK() {
		p.stream.Write(lite.AnnounceOK{Hop: 9}.Append(nil, v))
	}
	return p
}

// say announces the camera, or changes it in place, and waits until that is passed
// on: what is worse than before is held back for 300 ms.
func (p *pricer) say(hops []uint64, cost lite.Cost) {
	var b []byte
	switch {
	case !p.v.HasAnnounceIDs():
		b = lite.Announce{Active: true, Suffix: camera, Hops: hops}.Append(nil, p.v)
	case !p.live:
		b = lite.AnnounceStart{Suffix: camera, Hops: hops, Cost: cost}.Append(nil, p.v)
	default:
		b = lite.AnnounceUpdate{Hops: hops, Cost: cost}.Append(nil, p.v)
	}
	p.live = true
	p.stream.Write(b)
	time.Sleep(time.Second)
	synctest.Wait()
}

// listener is a raw peer that follows the announcements.
func (s *side) listener(t *testing.T, v lite.Version) *collector {
	t.Helper()
	peer, _ := serveRaw(t, v, s)
	c := collect(ask(t, peer, request(v, lite.StreamAnnounce, lite.AnnounceRequest{})))
	synctest.Wait()
	return c
}

// news is what was said since the last call.
func (c *collector) news() string {
	s := c.now()
	c.said.Reset()
	return s
}

func hops(n int) (list []uint64) {
	for i := range n {
		list = append(list, uint64(100+i))
	}
	return list
}

// TestPrices are scenarios G5 and G6: a change of price is one update in place, and
// prices end at the ceiling.
func TestPrices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const v = lite.V06
		relay := newSide(3)
		relay.conf.LinkCost = lite.Some(5)
		p := relay.pricer(t, v)
		viewer := relay.listener(t, v)
		viewer.news()
		for _, tt := range []struct {
			cost lite.Cost
			want string
		}{
			{lite.Cost{Warm: 1, Cold: 2}, "000d08726f6f6d2f63616d01090607"},
			{lite.Cost{Warm: 3, Cold: 4}, "02050001090809"},
			{lite.Cost{Warm: 3, Cold: 4}, ""},
			{lite.Cost{Warm: moq.MaxCost - 3, Cold: moq.MaxCost}, "0213000109" + strings.Repeat("f", 32)},
			{lite.Cost{Warm: moq.MaxCost - 2, Cold: moq.MaxCost - 5}, ""}, // at the ceiling already
		} {
			p.say(nil, tt.cost)
			if got := viewer.news(); got != tt.want {
				t.Errorf("at %+v the viewer is told %q, want %q", tt.cost, got, tt.want)
			}
		}
	})
}

// TestHopCap is scenario G9: a list at the cap is of use here and not passed on, one
// above it is of no use.
func TestHopCap(t *testing.T) {
	eachVersion(t, lite.V04, func(t *testing.T, v lite.Version) {
		relay := newSide(3)
		p := relay.pricer(t, v)
		viewer := newSide(2)
		join(t, v, viewer, relay)
		own := 1 // the announcer's hop, which 05 and later leave out
		if v < lite.V05 {
			own = 0
		}
		for _, tt := range []struct {
			stored       int // hops, the announcer's included
			here, beyond bool
		}{
			{moq.MaxHops - 1, true, true},
			{moq.MaxHops, true, false},
			{moq.MaxHops - 1, true, true},
			{moq.MaxHops + 1, false, false},
		} {
			if wire := tt.stored - own; wire > moq.MaxHops || v < lite.V05 && p.live {
				continue // cannot be said
			}
			p.say(hops(tt.stored-own), lite.Cost{})
			_, _, err := relay.origin.Find(camera, moq.Reader{})
			if (err == nil) != tt.here {
				t.Errorf("%d hops: here %v, want usable %v", tt.stored, err, tt.here)
			}
			if _, _, err = viewer.origin.Find(camera, moq.Reader{}); (err == nil) != tt.beyond {
				t.Errorf("%d hops: beyond %v, want usable %v", tt.stored, err, tt.beyond)
			}
		}
	})
}

// TestServersSetup: what only clients may say ends the session (A34).
func TestServersSetup(t *testing.T) {
	for name, setup := range map[string]lite.Setup{
		"path": {Path: "/x"},
		"role": {Role: lite.RolePublisher},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const v = lite.V06
				client, server := newFakeConns()
				r := newSide(1).run(t, client, v, false)
				say(t, server, setup.Append(lite.StreamSetup.Append(nil, v), v))
				var closed *session.CloseError
				if err := <-r.ended; !errors.As(err, &closed) || closed.Code != session.CodeProtocolViolation {
					t.Errorf("ended with %v, want a protocol violation", err)
				}
			})
		})
	}
}

// TestRoles: nobody asks a viewer for announcements, or answers a publisher's requests.
func TestRoles(t *testing.T) {
	eachVersion(t, lite.V03, func(t *testing.T, v lite.Version) {
		relay := newSide(3)
		relay.local(t, "v")
		relay.access.NoPublish = true
		peer, _ := serveRaw(t, v, relay)
		if len(peer.bidi) != 0 {
			t.Errorf("%d streams opened to a viewer", len(peer.bidi))
		}
		relay.access.NoPublish, relay.access.NoSubscribe = false, true
		peer, _ = serveRaw(t, v, relay)
		s := ask(t, peer, request(v, lite.StreamSubscribe, lite.Subscribe{Broadcast: camera, Track: "v"}))
		if _, err := s.Read(make([]byte, 1)); code(err) != int(session.StreamUnroutable) {
			t.Errorf("a publisher's subscription: %v, want unroutable", err)
		}
		c := collect(ask(t, peer, request(v, lite.StreamAnnounce, lite.AnnounceRequest{})))
		synctest.Wait()
		if got := c.now(); strings.Contains(got, fmt.Sprintf("%x", camera)) {
			t.Errorf("a publisher is told %s", got)
		}
	})
}

// TestGoawayBothWays: each side can ask the other to leave, once; what runs goes on,
// nothing new begins (A31).
func TestGoawayBothWays(t *testing.T) {
	eachVersion(t, lite.V04, func(t *testing.T, v lite.Version) {
		m := newMesh(t, v)
		w := m.create(t)
		var told []string
		viewer := newSide(4)
		viewer.conf.OnGoaway = func(uri string) { told = append(told, "viewer "+uri) }
		m.relay.conf.OnGoaway = func(uri string) { told = append(told, "relay "+uri) }
		c, s := join(t, v, viewer, m.relay)
		sub := viewer.subscribe(t, moq.SubscribeOptions{MaxAge: time.Second})
		for _, r := range []*running{s, c, s} { // the second time does nothing
			if err := r.Goaway(context.Background(), "https://else.example/"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if diff := cmp.Diff([]string{"viewer https://else.example/", "relay https://else.example/"}, told); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		write(t, w, 0, "runs on")
		if diff := cmp.Diff([]string{"runs on"}, groups(t, sub)); diff != "" {
			t.Errorf("groups (-want +got):\n%s", diff)
		}
		late, err := viewer.remote(t).Subscribe(moq.TrackKey{Name: "late"}, moq.SubscribeOptions{}, nil)
		if err != nil {
			t.Fatal("the routes of a peer that leaves are gone before it is:", err)
		}
		defer late.Close()
		if _, _, err := late.NextGroup(t.Context()); !errors.Is(err, moq.ErrGoingAway) {
			t.Errorf("a new subscription: %v, want going away", err)
		}
	})
}

// TestDeclinedAnnouncementsCount: what we may not take from a peer still has its id,
// and its place (§6.4, §15.1).
func TestDeclinedAnnouncementsCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const v = lite.V06
		relay := newSide(3)
		relay.access.Publish = func(path string) bool { return !strings.HasPrefix(path, "no/") }
		p := relay.pricer(t, v)
		for _, suffix := range []string{"no/a", "yes", "no/b"} {
			p.stream.Write(lite.AnnounceStart{Suffix: suffix}.Append(nil, v))
		}
		p.stream.Write(lite.AnnounceEnd{ID: 0}.Append(nil, v))
		p.stream.Write([]byte{9, 1, 0}) // of an unknown type: skipped, without an id
		synctest.Wait()
		if diff := cmp.Diff([]string{"yes"}, relay.origin.Paths("", moq.Reader{})); diff != "" {
			t.Errorf("paths (-want +got):\n%s", diff)
		}
		p.stream.Write(lite.AnnounceEnd{ID: 1}.Append(nil, v))
		synctest.Wait()
		if n := relay.origin.Len(); n != 0 {
			t.Errorf("%d paths left", n)
		}
		if err := context.Cause(p.conn.Context()); err != nil {
			t.Errorf("the session has ended: %v", err)
		}
	})
}
