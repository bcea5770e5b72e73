package relay

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/cluster"
	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/moq/session"
)

// configured is a link that the configuration asks for.
func configured(host string) cluster.LinkStatus {
	return cluster.LinkStatus{Peer: "https://" + host + "/", Owners: []peers.Owner{peers.Static}}
}

// sending is a link with a session that has sent so many bytes.
func sending(l cluster.LinkStatus, conn, bytes uint64) cluster.LinkStatus {
	l.Conn, l.Stats = conn, session.Stats{BytesSent: bytes}
	return l
}

func TestPeerLabels(t *testing.T) {
	listed, found := configured("listed:4443"), configured("found")
	listed.Owners, found.Owners = []peers.Owner{peers.API, peers.Gossip}, []peers.Owner{peers.Gossip}
	in := cluster.LinkStatus{Peer: "192.0.2.1:1", Inbound: true}
	got := peerLabels([]cluster.LinkStatus{listed, configured("a"), found, in})
	want := []linkLabel{{peer: "listed:4443"}, {peer: "a"}, {peer: "discovered"}, {inbound: true}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(linkLabel{})); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

// However many peers there are, and whoever lists them, labels are few, and those of
// the configuration come first.
func TestPeerLabelsAreBounded(t *testing.T) {
	var links []cluster.LinkStatus
	for i := range 3 * maxPeerLabels {
		l := configured(fmt.Sprintf("host-%d", i))
		l.Owners = []peers.Owner{peers.API}
		links = append(links, l)
	}
	links = append(links, configured("mine"), configured("mine"))
	labels := peerLabels(links)
	values := make(map[string]int)
	for _, l := range labels {
		values[l.peer]++
	}
	if len(values) != maxPeerLabels+1 || values["mine"] != 2 || values[furtherPeers] != 2*maxPeerLabels+1 {
		t.Errorf("%d labels, %d links called mine, %d further ones", len(values), values["mine"], values[furtherPeers])
	}
}

// What a session sent stays counted when the next one begins at nothing, also where
// several links are summed.
func TestLinkTotalsOnlyGrow(t *testing.T) {
	found := func(host string, conn, bytes uint64) cluster.LinkStatus {
		l := sending(configured(host), conn, bytes)
		l.Owners = []peers.Owner{peers.Gossip}
		return l
	}
	totals, label := newLinkTotals(), linkLabel{peer: foundPeers}
	for i, step := range []struct {
		links []cluster.LinkStatus
		want  uint64
	}{
		{[]cluster.LinkStatus{found("a", 1, 10), found("b", 2, 100)}, 110},
		{[]cluster.LinkStatus{found("a", 1, 15), found("b", 2, 100)}, 115},
		{[]cluster.LinkStatus{found("a", 3, 2), found("b", 2, 101)}, 118},
		{[]cluster.LinkStatus{found("b", 2, 101)}, 118},
		{nil, 118},
		{[]cluster.LinkStatus{found("a", 4, 1)}, 119},
	} {
		if got := totals.count(step.links)[label].sent; got != step.want {
			t.Errorf("step %d: %d bytes, want %d", i, got, step.want)
		}
	}
	if len(totals.seen) != 2 || len(totals.totals) != 3 {
		t.Errorf("%d counts and %d labels are kept for one link", len(totals.seen), len(totals.totals))
	}
}

func TestLinkTotalsCountDials(t *testing.T) {
	totals, l := newLinkTotals(), configured("a")
	for i, step := range []struct{ attempts, want uint64 }{{2, 2}, {5, 5}, {5, 5}, {1, 6}} { // the last one is wanted anew
		l.Attempts = step.attempts
		if got := totals.count([]cluster.LinkStatus{l})[linkLabel{peer: "a"}].dials; got != step.want {
			t.Errorf("step %d: %d dials, want %d", i, got, step.want)
		}
	}
}

// Of several links under one label the dearest and the slowest show.
func TestLinkFiguresOfSeveralLinks(t *testing.T) {
	near, far := sending(configured("a"), 1, 0), configured("a")
	near.Price, near.Stats.RTT = 2, 40*time.Millisecond
	far.Price = 9
	got := newLinkTotals().count([]cluster.LinkStatus{near, far})[linkLabel{peer: "a"}]
	if got.up != 1 || got.price != 9 || got.rtt != 40*time.Millisecond {
		t.Errorf("figures %+v", got)
	}
}
