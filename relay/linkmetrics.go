package relay

import (
	"net/url"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/moqmesh/moqmesh/cluster"
	"github.com/moqmesh/moqmesh/cluster/peers"
)

// maxPeerLabels is how many hosts have series of their own.
const maxPeerLabels = 64

// Values of the label peer beside hosts. Only the operator's own words become hosts
// there: what others announce or dial from is summed.
const (
	furtherPeers = "other"      // configured hosts beyond maxPeerLabels
	foundPeers   = "discovered" // dialled because they announce themselves
	inboundPeers = ""           // those that dialled us
)

var (
	linkStateDesc    = series("links", "Links with other relays, dialled or accepted.", "direction", "state")
	linkUpDesc       = series("link_up", "Links that have a session.", "direction", "peer")
	linkPriceDesc    = series("link_price", "Price of what is pulled over the link; the highest where there are several.", "direction", "peer")
	linkRTTDesc      = series("link_rtt_seconds", "Round trip time of the link; the highest where there are several. 0 = none is up.", "direction", "peer")
	linkDialsDesc    = series("link_dials_total", "Attempts to reach the peer.", "direction", "peer")
	linkSentDesc     = series("link_sent_bytes_total", "Bytes sent on the wire, as the scrapes found them.", "direction", "peer")
	linkReceivedDesc = series("link_received_bytes_total", "Bytes received on the wire, as the scrapes found them.", "direction", "peer")
	linkPacketsDesc  = series("link_sent_packets_total", "Packets sent, as the scrapes found them.", "direction", "peer")
	linkLostDesc     = series("link_lost_packets_total", "Packets of these that were lost.", "direction", "peer")

	clusterAloneDesc     = series("cluster_alone_seconds", "How long no link has been up; 0 while one is.")
	clusterAdvertsDesc   = series("cluster_adverts_refused_total", "Announcements of relays that were refused.", "reason")
	clusterListDesc      = series("cluster_list_confirmed_timestamp_seconds", "Unix time at which the list of cluster.connect_api was last seen as it is used; 0 = never, or there is none.")
	clusterListErrorDesc = series("cluster_list_failing_seconds", "How long reading the list of cluster.connect_api has been failing; 0 = it works, or there is none.")
)

// clusterCounts are counted for all links together.
var clusterCounts = []struct {
	desc *prometheus.Desc
	read func(*cluster.Counters) uint64
}{
	{series("cluster_dials_total", "Attempts to reach a peer."), func(c *cluster.Counters) uint64 { return c.Dials.Load() }},
	{series("cluster_failures_total", "Attempts that failed, and sessions that ended with an error."), func(c *cluster.Counters) uint64 { return c.Failures.Load() }},
	{series("cluster_rejections_total", "Failures because the peer turned us away for what we are."), func(c *cluster.Counters) uint64 { return c.Rejections.Load() }},
	{series("cluster_closes_total", "Dialled sessions that ended without an error."), func(c *cluster.Counters) uint64 { return c.Closes.Load() }},
	{series("cluster_replacements_total", "Links dialled anew because their settings changed."), func(c *cluster.Counters) uint64 { return c.Replacements.Load() }},
	{series("cluster_migrations_total", "Links that moved where their peer sent them."), func(c *cluster.Counters) uint64 { return c.Migrations.Load() }},
	{series("cluster_overstays_total", "Replaced sessions that had to be closed by force."), func(c *cluster.Counters) uint64 { return c.Overstays.Load() }},
	{series("cluster_reprices_total", "Prices of links changed in place."), func(c *cluster.Counters) uint64 { return c.Reprices.Load() }},
	{series("cluster_twins_total", "Meetings of two relays with one hop id."), func(c *cluster.Counters) uint64 { return c.Twins.Load() }},
	{series("cluster_alarms_total", "Minutes without any link, of a relay that has peers or had."), func(c *cluster.Counters) uint64 { return c.Alarms.Load() }},
}

// linkCollector reads the cluster when it is scraped.
type linkCollector struct {
	cluster *cluster.Cluster
	counts  *cluster.Counters
	totals  *linkTotals
}

func (r *Relay) linkMetrics() linkCollector {
	return linkCollector{r.cluster, &r.links, newLinkTotals()}
}

// Describe implements [prometheus.Collector].
func (c linkCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, s := range clusterCounts {
		ch <- s.desc
	}
	for _, d := range []*prometheus.Desc{linkStateDesc, linkUpDesc, linkPriceDesc, linkRTTDesc, linkDialsDesc, linkSentDesc,
		linkReceivedDesc, linkPacketsDesc, linkLostDesc, clusterAloneDesc, clusterAdvertsDesc, clusterListDesc, clusterListErrorDesc} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (c linkCollector) Collect(ch chan<- prometheus.Metric) {
	links := c.cluster.Links()
	collectStates(ch, links)
	for label, f := range c.totals.count(links) {
		f.collect(ch, label)
	}
	for _, s := range clusterCounts {
		ch <- counter(s.desc, s.read(c.counts))
	}
	ch <- counter(clusterAdvertsDesc, c.counts.AdvertsInvalid.Load(), "invalid")
	ch <- counter(clusterAdvertsDesc, c.counts.AdvertsFull.Load(), "full")
	ch <- counter(clusterAdvertsDesc, c.counts.AdvertsForged.Load(), "forged")
	now := time.Now()
	ch <- gauge(clusterAloneDesc, c.cluster.Alone(now).Seconds())
	list := c.cluster.List()
	ch <- gauge(clusterListDesc, unixSeconds(list.Confirmed))
	failing := time.Duration(0)
	if !list.FailingSince.IsZero() {
		failing = max(now.Sub(list.FailingSince), 0)
	}
	ch <- gauge(clusterListErrorDesc, failing.Seconds())
}

func unixSeconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

// collectStates counts the links by state, those that nobody is in included.
func collectStates(ch chan<- prometheus.Metric, links []cluster.LinkStatus) {
	type kind struct {
		inbound bool
		state   cluster.State
	}
	counts := map[kind]int{{true, cluster.Connected}: 0}
	for s := cluster.Connecting; s <= cluster.Rejected; s++ {
		counts[kind{false, s}] = 0
	}
	for _, l := range links {
		counts[kind{l.Inbound, l.State}]++
	}
	for k, n := range counts {
		ch <- gauge(linkStateDesc, float64(n), directionOf(k.inbound), k.state.String())
	}
}

func directionOf(inbound bool) string {
	if inbound {
		return "inbound"
	}
	return "outbound"
}

// linkLabel is what one set of series of links is about.
type linkLabel struct {
	inbound bool
	peer    string
}

// peerLabels are those of the links, one for each. The hosts that the configuration
// names come before those of cluster.connect_api, so that these do not displace them.
func peerLabels(links []cluster.LinkStatus) []linkLabel {
	labels := make([]linkLabel, len(links))
	for i, l := range links {
		labels[i] = linkLabel{peer: foundPeers}
		if l.Inbound {
			labels[i] = linkLabel{inbound: true, peer: inboundPeers}
		}
	}
	hosts := make(map[string]bool)
	for _, owner := range []peers.Owner{peers.Static, peers.API} {
		for i, l := range links {
			if len(l.Owners) == 0 || l.Owners[0] != owner {
				continue
			}
			host := hostOf(l.Peer)
			if !hosts[host] && len(hosts) >= maxPeerLabels {
				labels[i].peer = furtherPeers
				continue
			}
			hosts[host] = true
			labels[i].peer = host
		}
	}
	return labels
}

// hostOf is the host, and port, of a peer's URL.
func hostOf(peer string) string {
	u, err := url.Parse(peer)
	if err != nil {
		return furtherPeers
	}
	return u.Host
}

// linkFigures are those of the links with one label.
type linkFigures struct {
	up    int
	price uint64
	rtt   time.Duration
	linkCounts
}

// linkCounts only grow.
type linkCounts struct{ dials, sent, received, packets, lost uint64 }

func (f linkFigures) collect(ch chan<- prometheus.Metric, label linkLabel) {
	direction := directionOf(label.inbound)
	ch <- gauge(linkUpDesc, float64(f.up), direction, label.peer)
	ch <- gauge(linkPriceDesc, float64(f.price), direction, label.peer)
	ch <- gauge(linkRTTDesc, f.rtt.Seconds(), direction, label.peer)
	ch <- counter(linkDialsDesc, f.dials, direction, label.peer)
	ch <- counter(linkSentDesc, f.sent, direction, label.peer)
	ch <- counter(linkReceivedDesc, f.received, direction, label.peer)
	ch <- counter(linkPacketsDesc, f.packets, direction, label.peer)
	ch <- counter(linkLostDesc, f.lost, direction, label.peer)
}

// linkTotals turns the figures of sessions, which begin anew with each, into ones of
// links. What a session does between a scrape and its end is not seen.
type linkTotals struct {
	mu     sync.Mutex // guards what follows
	seen   map[countID]linkCounts
	totals map[linkLabel]linkCounts
}

// countID is what counts by itself: a session has a number, the dials of a link a
// peer.
type countID struct {
	conn uint64
	peer string
}

func newLinkTotals() *linkTotals {
	return &linkTotals{seen: make(map[countID]linkCounts), totals: make(map[linkLabel]linkCounts)}
}

// count adds what is new since the last call, and returns the figures of each label
// that a link has now, and of inbound, discovered and further ones in any case. It
// forgets labels that are gone: there are never more than maxPeerLabels and three.
func (t *linkTotals) count(links []cluster.LinkStatus) map[linkLabel]linkFigures {
	t.mu.Lock()
	defer t.mu.Unlock()
	figures := map[linkLabel]linkFigures{
		{inbound: true, peer: inboundPeers}: {}, {peer: foundPeers}: {}, {peer: furtherPeers}: {},
	}
	seen := make(map[countID]linkCounts, 2*len(links))
	grown := make(map[linkLabel]linkCounts)
	add := func(label linkLabel, id countID, now linkCounts) {
		grown[label] = grown[label].plus(now.since(t.seen[id]))
		seen[id] = now
	}
	labels := peerLabels(links)
	for i, l := range links {
		label := labels[i]
		figures[label] = figures[label].with(l)
		if !l.Inbound {
			add(label, countID{peer: l.Peer}, linkCounts{dials: l.Attempts})
		}
		if l.Conn != 0 {
			add(label, countID{conn: l.Conn}, linkCounts{
				sent: l.Stats.BytesSent, received: l.Stats.BytesReceived, packets: l.Stats.PacketsSent, lost: l.Stats.PacketsLost,
			})
		}
	}
	totals := make(map[linkLabel]linkCounts, len(figures))
	for label, f := range figures {
		totals[label] = t.totals[label].plus(grown[label])
		f.linkCounts = totals[label]
		figures[label] = f
	}
	t.seen, t.totals = seen, totals
	return figures
}

// with is f with one more link.
func (f linkFigures) with(l cluster.LinkStatus) linkFigures {
	if l.Conn != 0 {
		f.up++
	}
	f.price, f.rtt = max(f.price, l.Price), max(f.rtt, l.Stats.RTT)
	return f
}

func (c linkCounts) plus(d linkCounts) linkCounts {
	return linkCounts{c.dials + d.dials, c.sent + d.sent, c.received + d.received, c.packets + d.packets, c.lost + d.lost}
}

// since is what c has more than before. Dials begin anew with a link that was not
// wanted for a while; a loss that turns out to be none is not taken back.
func (c linkCounts) since(before linkCounts) linkCounts {
	if c.dials < before.dials {
		before.dials = 0
	}
	return linkCounts{
		c.dials - before.dials, c.sent - min(before.sent, c.sent), c.received - min(before.received, c.received),
		c.packets - min(before.packets, c.packets), c.lost - min(before.lost, c.lost),
	}
}
