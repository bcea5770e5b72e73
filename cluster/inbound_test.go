package cluster

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// An inbound link stands with the one relay that announces its hop id, and goes when its session does.
func TestJoin(t *testing.T) {
	run(t, Config{Node: "https://a.example", Mesh: true}, func(t *testing.T, w *world) {
		stats := func() session.Stats { return session.Stats{RTT: time.Second} }
		leave, err := w.cluster.Join(Inbound{Conn: 5, Remote: "192.0.2.1:7", Proto: "moq-lite-06", Setup: lite.Setup{Hop: 8, Cost: lite.Some(3)}, Since: w.start, Stats: stats})
		if err != nil {
			t.Fatal(err)
		}
		want := LinkStatus{
			Peer: "192.0.2.1:7", Inbound: true, State: Connected, Since: w.start, Price: 3, PriceFrom: DeclaredPrice,
			HopID: 8, Conn: 5, Proto: "moq-lite-06", Stats: stats(),
		}
		if diff := cmp.Diff(want, w.link()); diff != "" {
			t.Error(diff)
		}
		if nodes := w.cluster.Nodes(); len(nodes) != 0 {
			t.Errorf("nodes %+v, want none for a hop id that nobody announces", nodes)
		}
		w.hear("https:/b.example", 3, 8)
		want.Peer = "https://b.example/"
		if diff := cmp.Diff(want, w.link()); diff != "" {
			t.Error(diff)
		}
		node := NodeStatus{
			Node: "https://b.example/", HopID: 8, Announced: true, Route: peers.Route{Hops: []uint64{8}, Cost: 3}, Links: []LinkStatus{want},
		}
		if diff := cmp.Diff([]NodeStatus{node}, w.cluster.Nodes()); diff != "" {
			t.Error(diff)
		}
		leave()
		leave()
		if links := w.cluster.Links(); len(links) != 0 {
			t.Errorf("links %+v, want none", links)
		}
	})
}

// TestAlarm: only who has lost somebody, or wants somebody, is alone.
func TestAlarm(t *testing.T) {
	run(t, Config{Node: "https://a.example", Mesh: true}, func(t *testing.T, w *world) {
		time.Sleep(5*time.Minute + time.Second)
		w.expectSaid(0, "no cluster peer is connected")
		leave, err := w.cluster.Join(Inbound{Remote: "192.0.2.1:7"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		w.expectSaid(0, "no cluster peer is connected")
		leave()
		time.Sleep(3 * time.Minute)
		w.expectSaid(2, "level=ERROR", "no cluster peer is connected")
		if n := w.count.Alarms.Load(); n != 2 {
			t.Errorf("%d alarms counted, want 2", n)
		}
	})
}

// A rendezvous only waits, until it is given somebody to dial.
func TestRendezvousIsGivenAPeer(t *testing.T) {
	run(t, Config{Node: "https://a.example", Mesh: true}, func(t *testing.T, w *world) {
		w.hear("https:/b.example", 0, 8)
		w.expectSaid(1, "advertising cluster node URL", "node=https://a.example/", "path=.internal/origins/https:/a.example")
		time.Sleep(time.Minute)
		w.expectLinks()
		w.replace("https://c.example/")
		w.expectLinks("https://b.example/", "https://c.example/")
		w.replace()
		w.expectLinks()
	})
}

func TestAdvertIsWithdrawn(t *testing.T) {
	var origin *moq.Origin
	run(t, Config{Node: "https://a.example", Mesh: true}, func(t *testing.T, w *world) {
		origin = w.origin
		if got := origin.Paths("", moq.Reader{Hidden: true}); len(got) != 1 {
			t.Errorf("announced: %v", got)
		}
	})
	if n := origin.Len(); n != 0 {
		t.Errorf("%d announcements are left", n)
	}
}

func TestStandalone(t *testing.T) {
	run(t, Config{}, func(t *testing.T, w *world) {
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		w.expectSaid(1, "no cluster peers configured; running standalone")
		w.expectSaid(0, "level=ERROR")
	})
}

// Who is no peer can neither announce a relay nor learn of one, wherever its root is.
func TestRestrict(t *testing.T) {
	run(t, Config{}, func(t *testing.T, w *world) {
		only := func(allowed string) func(string) bool { return func(path string) bool { return path == allowed } }
		for _, tc := range []struct {
			access session.Access
			path   string
			want   bool
		}{
			{session.Access{}, ".internal/origins/b", false},
			{session.Access{}, ".internal", false},
			{session.Access{}, ".internals/b", true},
			{session.Access{}, "room/.internal/b", true},
			{session.Access{Root: ".internal"}, "origins/b", false},
			{session.Access{Root: ".internal/origins"}, "b", false},
			{session.Access{Root: "room"}, ".internal/b", true},
			{session.Access{Publish: only("a"), Subscribe: only("a")}, "a", true},
			{session.Access{Publish: only("a"), Subscribe: only("a")}, "b", false},
			{session.Access{Publish: only(".internal/b"), Subscribe: only(".internal/b")}, ".internal/b", false},
		} {
			got := w.cluster.Restrict(tc.access, 3, 0)
			if got.Publish(tc.path) != tc.want || got.Subscribe(tc.path) != tc.want {
				t.Errorf("%q below %q: publish %v, subscribe %v, want %v", tc.path, tc.access.Root, got.Publish(tc.path), got.Subscribe(tc.path), tc.want)
			}
		}
		if got := w.cluster.Restrict(session.Access{Peer: true}, 3, 0); got.Publish != nil || got.Subscribe != nil {
			t.Error("a peer is restricted")
		}
		w.expectSaid(0, "no peer; ignoring")
		relay := w.cluster.Restrict(session.Access{}, 4, 77)
		relay.Publish(".internal/origins/b")
		relay.Publish(".internal/origins/c")
		w.expectSaid(1, "cluster advertisement from a session that is no peer; ignoring", "conn=4", "hop_id=77", "cure=")
	})
}
