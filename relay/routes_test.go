package relay

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/moqmesh/moqmesh/relay/conf"
	"github.com/moqmesh/moqmesh/relay/topology"
)

// hub is a relay that takes every session from this machine for a peer's.
func hub(t *testing.T, edits ...edit) *node {
	t.Helper()
	return start(t, append(edits, func(c *conf.Relay) {
		c.Cluster.InternalPeers = []conf.AddressRange{{Prefix: netip.MustParsePrefix("127.0.0.0/8")}}
	})...)
}

// dialling dials relays at a price of 3, and shows them a token.
func dialling(hubs ...*node) edit {
	return func(c *conf.Relay) {
		c.Connect.TLS.Insecure = true
		for _, h := range hubs {
			c.Cluster.Connect = append(c.Cluster.Connect, conf.Peer{URL: h.url("moqt", "/?jwt=hunter2&cost=3")})
		}
	}
}

// nodes reads /nodes.
func (n *node) nodes(t *testing.T) topology.Nodes {
	t.Helper()
	status, body := get(t, n.url("internal", "/nodes"))
	var list topology.Nodes
	if err := json.Unmarshal([]byte(body), &list); status != 200 || err != nil || strings.Contains(body, "hunter2") {
		t.Fatalf("/nodes = %d %s: %v", status, body, err)
	}
	return list
}

// linked waits until so many relays are connected.
func (n *node) linked(t *testing.T, count int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d relays connected", count), func() bool {
		up := 0
		for _, node := range n.nodes(t).Nodes {
			up += len(node.Connections)
		}
		return up == count
	})
}

// B10: relays stand in order, under their URL without query, and their sessions
// under the number that logs give.
func TestB10NodesOfDialledPeers(t *testing.T) {
	a, b := hub(t), hub(t)
	n := start(t, dialling(a, b))
	n.linked(t, 2)
	list := n.nodes(t)
	want := []string{a.url("moqt", "/"), b.url("moqt", "/")}
	slices.Sort(want)
	for i, node := range list.Nodes {
		if node.Node != want[i] || node.OriginID == nil || node.Announced != nil || len(node.Connections) != 1 {
			t.Errorf("node %d is %+v, want %s", i, node, want[i])
			continue
		}
		c, l := node.Connections[0], node.Links[0]
		if c.Direction != "outbound" || !strings.Contains(n.log.String(), fmt.Sprintf("conn=%d ", c.ID)) {
			t.Errorf("connection %+v, not in the log", c)
		}
		if l.State != "connected" || l.Price != 3 || l.PriceFrom != "own" || !slices.Equal(l.Owners, []string{"connect"}) || l.Attempts == 0 || l.Since == 0 {
			t.Errorf("link %+v", l)
		}
	}
	in := a.nodes(t)
	if len(in.Nodes) != 0 || len(in.Unmatched) != 1 || in.Unmatched[0].Direction != "inbound" {
		t.Errorf("the other side has %+v, want one link that fits no node", in)
	}
	for series, want := range map[string]string{
		`moqmesh_relay_links{direction="outbound",state="connected"}`:                              "2",
		`moqmesh_relay_links{direction="outbound",state="waiting"}`:                                "0",
		`moqmesh_relay_links{direction="inbound",state="connected"}`:                               "0",
		`moqmesh_relay_cluster_alone_seconds`:                                                      "0",
		`moqmesh_relay_cluster_dials_total`:                                                        "2",
		fmt.Sprintf(`moqmesh_relay_link_up{direction="outbound",peer="%s"}`, a.Addrs()["quic"]):    "1",
		fmt.Sprintf(`moqmesh_relay_link_price{direction="outbound",peer="%s"}`, a.Addrs()["quic"]): "3",
	} {
		if got := n.metric(t, series); got != want {
			t.Errorf("%s = %s, want %s", series, got, want)
		}
	}
	if got := a.metric(t, `moqmesh_relay_link_up{direction="inbound",peer=""}`); got != "1" {
		t.Errorf("%s inbound links are up, want 1", got)
	}
}

// visit reads /routes as a client that accepts something.
func (n *node) visit(t *testing.T, query, accept string) (res *http.Response, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.url("internal", "/routes"+query), nil)
	if err != nil {
		t.Fatal(err)
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	if res, err = webClient.Do(req); err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

func TestRoutesExplainAForwardedBroadcast(t *testing.T) {
	a := hub(t)
	n := start(t, dialling(a))
	n.linked(t, 1)
	dial(t, a.url("moqt", "/")).publish(t, "demo/cam", "video")
	dial(t, n.url("moqt", "/")).await(t, "demo/cam")
	_, body := n.visit(t, "?format=json&why=demo/cam", "")
	var d topology.Routes
	if err := json.Unmarshal([]byte(body), &d); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	if len(d.Routes) != 1 || d.Routes[0].Name != "demo/cam" || d.Why == nil || len(d.Why.Candidates) != 1 {
		t.Fatalf("routes %s", body)
	}
	c := d.Why.Candidates[0]
	if c.Peer != a.url("moqt", "/") || c.Source != "cluster" || c.Price != 3 || c.PriceFrom != "own" ||
		c.Warm != c.ReceivedWarm+3 || c.State != "serving" || c.Rule != "only" || len(c.Hops) < 2 {
		t.Errorf("candidate %+v", c)
	}
	if _, page := n.visit(t, "?why=demo/cam", "text/html,*/*"); !strings.Contains(page, "<h2>Why demo/cam</h2>") || strings.Contains(page, "hunter2") {
		t.Errorf("page:\n%s", page)
	}
}

func TestRoutesAnswerInTheFormAskedFor(t *testing.T) {
	n := start(t)
	for _, c := range []struct {
		query, accept string
		status        int
		kind          string
	}{
		{"", "", 200, "text/html; charset=utf-8"},
		{"", "text/html,application/json", 200, "text/html; charset=utf-8"},
		{"", "application/json", 200, "application/json"},
		{"?format=json", "text/html", 200, "application/json"},
		{"?format=html", "application/json", 200, "text/html; charset=utf-8"},
		{"?format=xml", "", 400, "text/plain; charset=utf-8"},
		{"?limit=0", "", 400, "text/plain; charset=utf-8"},
		{"?nonsense=1", "", 400, "text/plain; charset=utf-8"},
	} {
		res, _ := n.visit(t, c.query, c.accept)
		if got := res.Header.Get("Content-Type"); res.StatusCode != c.status || got != c.kind {
			t.Errorf("%q accepting %q: %d %s, want %d %s", c.query, c.accept, res.StatusCode, got, c.status, c.kind)
		}
	}
	res, _ := n.visit(t, "", "")
	if got := res.Header.Get("Content-Security-Policy"); got != topology.ContentSecurityPolicy {
		t.Errorf("policy %q", got)
	}
}
