package topology

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/cluster"
	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/cluster/route"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
)

// The relays of the tests: we are self, a and b are linked with us, c lies behind b.
const (
	self = 100
	idA  = 1
	idB  = 2
	idC  = 1<<62 - 3 // has no exact double
)

func testLinks() []cluster.LinkStatus {
	return []cluster.LinkStatus{
		{
			Peer: "https://a.example/", Owners: []peers.Owner{peers.Static, peers.Gossip}, State: cluster.Connected,
			Since: time.Unix(1000, 0), Attempts: 2, Price: 3, PriceFrom: cluster.OwnPrice, HopID: idA, Conn: 7, Proto: "moq-lite-06",
			Stats: session.Stats{RTT: 12500 * time.Microsecond, BytesSent: 10, BytesReceived: 20, PacketsSent: 8, PacketsLost: 2},
		},
		{Peer: "https://d.example/", Owners: []peers.Owner{peers.API}, State: cluster.Waiting, Since: time.Unix(900, 0), Attempts: 5, Err: "timeout", Price: 1},
		{Peer: "https://b.example/", Inbound: true, State: cluster.Connected, Since: time.Unix(1100, 0), Price: 1, HopID: idB, Conn: 9, Proto: "moq-lite-06"},
		{Peer: "192.0.2.7:4443", Inbound: true, State: cluster.Connected, Since: time.Unix(1200, 0), Price: 1, Conn: 11, Proto: "moq-lite-05"},
	}
}

func testNodes() []cluster.NodeStatus {
	l := testLinks()
	return []cluster.NodeStatus{
		{Node: "https://a.example/", HopID: idA, Links: l[:1]},
		{Node: "https://b.example/", HopID: idB, Announced: true, Route: peers.Route{Hops: []uint64{idB}, Cost: 1}, Links: l[2:3]},
		{Node: "https://c.example/", HopID: idC, Announced: true, Route: peers.Route{Hops: []uint64{idC, 0, idB}, Cost: 4}},
		{Node: "https://d.example/", Links: l[1:2]},
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// cluster.md §11: ids are decimal text or null, connections are live sessions, and
// what fits no node stands apart.
func TestNodesOf(t *testing.T) {
	got := NodesOf(testNodes(), testLinks())
	a, c := "1", "4611686018427387901"
	b := "2"
	quarter := 0.25
	want := Nodes{
		Nodes: []Node{
			{
				Node: "https://a.example/", OriginID: &a, Connections: []Connection{{7, "outbound"}},
				Links: []Link{{
					Peer: "https://a.example/", Direction: "outbound", ID: 7, Owners: []string{"connect", "gossip"}, State: "connected",
					Since: 1000, Attempts: 2, Price: 3, PriceFrom: "own", HopID: "1", Proto: "moq-lite-06",
					RTTms: 12.5, Loss: &quarter, Sent: 10, Received: 20,
				}},
			},
			{
				Node: "https://b.example/", OriginID: &b, Announced: &Announced{Hops: []string{"2"}, HopCount: 1, Cost: 1},
				Connections: []Connection{{9, "inbound"}},
				Links: []Link{{
					Peer: "https://b.example/", Direction: "inbound", ID: 9, State: "connected", Since: 1100,
					Price: 1, PriceFrom: "default", HopID: "2", Proto: "moq-lite-06",
				}},
			},
			{
				Node: "https://c.example/", OriginID: &c, Announced: &Announced{Hops: []string{c, "0", "2"}, HopCount: 3, Cost: 4},
				Connections: []Connection{}, Links: []Link{},
			},
			{
				Node: "https://d.example/", Connections: []Connection{},
				Links: []Link{{
					Peer: "https://d.example/", Direction: "outbound", Owners: []string{"connect_api"}, State: "waiting",
					Since: 900, Attempts: 5, Err: "timeout", Price: 1, PriceFrom: "default",
				}},
			},
		},
		Unmatched: []Link{{
			Peer: "192.0.2.7:4443", Direction: "inbound", ID: 11, State: "connected", Since: 1200, Price: 1, PriceFrom: "default", Proto: "moq-lite-05",
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	const released = `{
 "node": "https://d.example/",
 "origin_id": null,
 "announced": null,
 "connections": [],
`
	if text := toJSON(t, got.Nodes[3]); len(text) < len(released) || text[:len(released)] != released {
		t.Errorf("a node that is down reads %s", text)
	}
}

// nobody supplies the tracks of an announced broadcast: it has none.
type nobody struct{}

func (nobody) Open(w *moq.TrackWriter) { w.Abort(moq.ErrNotFound) }

func (nobody) Fetch(moq.TrackKey, *moq.GroupWriter, uint64, uint8) func() { return nil }

// mesh is our origin, with a way to "cam" over a and a dearer one over c and b, a
// loop of "loop", and what a client and we publish.
func mesh(t *testing.T) Relay {
	t.Helper()
	now := time.Unix(2000, 0)
	o := moq.NewOrigin(self, moq.NewCache(0))
	a := o.Join(now, route.Link{ID: idA, Own: route.PriceOf(3), Trusted: true, Stamp: 1 << 40})
	b := o.Join(now, route.Link{ID: idB, Trusted: true, Stamp: 1 << 41})
	client := o.Join(now, route.Link{ID: 55, Stamp: 1 << 42})
	a.Announce(now, "cam", nobody{}, route.Route{Hops: []uint64{33, idA}, Warm: 1, Cold: 1})
	b.Announce(now, "cam", nobody{}, route.Route{Hops: []uint64{33, idC, idB}, Warm: 4, Cold: 9})
	b.Announce(now, "loop", nobody{}, route.Route{Hops: []uint64{33, self, idB}})
	client.Announce(now, "shows/client", nobody{}, route.Route{Hops: []uint64{55}})
	o.Publish("shows/.own", moq.NewBroadcast(o.Cache(), nil))
	return Relay{Node: "https://self.example/", Origin: o, Links: testLinks(), Nodes: testNodes()}
}

func TestDescribeWhy(t *testing.T) {
	d := Describe(mesh(t), Query{Limit: 10, Why: "cam"})
	want := &Why{Name: "cam", Candidates: []Candidate{
		{
			Source: "cluster", Peer: "https://a.example/", HopID: "1",
			Hops:         []Hop{{ID: "33"}, {ID: "1", Node: "https://a.example/"}},
			ReceivedWarm: 1, ReceivedCold: 1, Price: 3, PriceFrom: "own", Warm: 4, Cold: 4,
			State: "serving", Rule: "cheaper",
		},
		{
			Source: "cluster", Peer: "https://b.example/", HopID: "2",
			Hops:         []Hop{{ID: "33"}, {ID: "4611686018427387901", Node: "https://c.example/"}, {ID: "2", Node: "https://b.example/"}},
			ReceivedWarm: 4, ReceivedCold: 9, Price: 1, PriceFrom: "default", Warm: 5, Cold: 10,
			State: "standby", Rule: "cheaper",
		},
	}}
	if diff := cmp.Diff(want, d.Why); diff != "" {
		t.Errorf("why cam (-want +got):\n%s", diff)
	}
	d = Describe(mesh(t), Query{Limit: 10, Why: "loop"})
	if c := d.Why.Candidates; len(c) != 1 || c[0].State != "looped" || c[0].Rule != "unusable" || c[0].Hops[1].Node != "https://self.example/" {
		t.Errorf("why loop: %+v", c)
	}
	d = Describe(mesh(t), Query{Limit: 10, Why: "none"})
	if d.Why == nil || len(d.Why.Candidates) != 0 {
		t.Errorf("why none: %+v, want a list without routes", d.Why)
	}
}

func TestDescribeLists(t *testing.T) {
	r := mesh(t)
	for _, c := range []struct {
		q         Query
		want      string // name, source and number of routes
		total     int
		truncated bool
	}{
		{Query{Limit: 10}, "cam cluster 2, shows/.own local 1, shows/client client 1, ", 3, false},
		{Query{Limit: 3}, "cam cluster 2, shows/.own local 1, shows/client client 1, ", 3, false},
		{Query{Limit: 2}, "cam cluster 2, shows/.own local 1, ", 3, true},
		{Query{Limit: 10, Prefix: "shows"}, "shows/.own local 1, shows/client client 1, ", 2, false},
		{Query{Limit: 10, Prefix: "show"}, "", 0, false},
	} {
		d := Describe(r, c.q)
		got := ""
		for _, w := range d.Routes {
			got += fmt.Sprintf("%s %s %d, ", w.Name, w.Serving.Source, w.Candidates)
		}
		if got != c.want || d.Total != c.total || d.Truncated != c.truncated || d.Prefix != c.q.Prefix {
			t.Errorf("%+v: %q, %d in all, truncated %v; want %+v", c.q, got, d.Total, d.Truncated, c)
		}
		if d.Node != r.Node || d.OriginID != "100" || len(d.Links) != len(r.Links) || d.Why != nil {
			t.Errorf("%+v: relay %q %q with %d links, why %v", c.q, d.Node, d.OriginID, len(d.Links), d.Why)
		}
	}
}

// A name that more sessions announce than are shown says so.
func TestDescribeBoundsCandidates(t *testing.T) {
	now := time.Unix(2000, 0)
	o := moq.NewOrigin(self, moq.NewCache(0))
	for i := range uint64(maxCandidates + 1) {
		o.Join(now, route.Link{ID: 1000 + i, Stamp: 1<<40 + i}).Announce(now, "x", nobody{}, route.Route{Hops: []uint64{1000 + i}})
	}
	d := Describe(Relay{Origin: o}, Query{Limit: 1, Why: "x"})
	if len(d.Why.Candidates) != maxCandidates || !d.Why.Truncated || d.Routes[0].Candidates != maxCandidates+1 {
		t.Errorf("%d of %d routes, truncated %v", len(d.Why.Candidates), d.Routes[0].Candidates, d.Why.Truncated)
	}
}

// Two relays with one hop id cannot be told apart, and are not.
func TestDescribeTellsNoTwins(t *testing.T) {
	r := mesh(t)
	r.Nodes = append(r.Nodes, cluster.NodeStatus{Node: "https://twin.example/", HopID: idA})
	if c := Describe(r, Query{Limit: 1, Why: "cam"}).Why.Candidates[0]; c.Peer != "" || c.Via() != "via hop 1" {
		t.Errorf("peer %q, %q", c.Peer, c.Via())
	}
}

func TestEveryWordIsExplained(t *testing.T) {
	for r := route.Only; r <= route.Unusable; r++ {
		if RuleTexts[r.String()] == "" {
			t.Errorf("rule %s is not explained", r)
		}
	}
	for s := route.Serving; s <= route.Lingering; s++ {
		if StateTexts[s.String()] == "" {
			t.Errorf("state %s is not explained", s)
		}
	}
}
