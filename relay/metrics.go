package relay

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/relay/conf"
)

// prefix begins the name of every series of ours.
const prefix = "moqmesh_relay_"

// collector reads the relay's counters when it is scraped. Labels come from
// closed sets: nothing of a path, token or address is ever one.
type collector struct{ r *Relay }

func (r *Relay) metrics() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collector{r}, r.linkMetrics(), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return reg
}

// series describes one metric.
func series(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prefix+name, help, labels, nil)
}

// trafficSeries are counted per tier and role, and read in this order: an end
// before its beginning, so that no more is seen to end than has begun.
var trafficSeries = []struct {
	desc *prometheus.Desc
	read func(*session.Traffic) uint64
}{
	{series("bytes_total", "Bytes of content: payloads, on their way out with the frame headers.", "tier", "role"), func(t *session.Traffic) uint64 { return t.Bytes.Load() }},
	{series("frames_total", "Frames.", "tier", "role"), func(t *session.Traffic) uint64 { return t.Frames.Load() }},
	{series("groups_total", "Groups begun.", "tier", "role"), func(t *session.Traffic) uint64 { return t.Groups.Load() }},
	{series("datagrams_total", "Datagrams.", "tier", "role"), func(t *session.Traffic) uint64 { return t.Datagrams.Load() }},
	{series("fetches_total", "Fetches of single groups.", "tier", "role"), func(t *session.Traffic) uint64 { return t.Fetches.Load() }},
	{series("subscriptions_closed_total", "Subscriptions ended, never more than were begun.", "tier", "role"), func(t *session.Traffic) uint64 { return t.SubscriptionsClosed.Load() }},
	{series("subscriptions_opened_total", "Subscriptions begun.", "tier", "role"), func(t *session.Traffic) uint64 { return t.SubscriptionsOpened.Load() }},
	{series("viewers_closed_total", "Ends of viewing, never more than beginnings.", "tier", "role"), func(t *session.Traffic) uint64 { return t.BroadcastsClosed.Load() }},
	{series("viewers_opened_total", "Sessions that began to view a broadcast: with its first subscription there.", "tier", "role"), func(t *session.Traffic) uint64 { return t.Broadcasts.Load() }},
	{series("announces_ended_total", "Announcements ended.", "tier", "role"), func(t *session.Traffic) uint64 { return t.AnnouncesEnded.Load() }},
	{series("announces_started_total", "Announcements begun.", "tier", "role"), func(t *session.Traffic) uint64 { return t.AnnouncesStarted.Load() }},
}

// eventSeries are counted per tier.
var eventSeries = []struct {
	desc *prometheus.Desc
	read func(*session.Counters) uint64
}{
	{series("groups_skipped_total", "Groups not begun for a viewer because they were stale.", "tier"), func(c *session.Counters) uint64 { return c.GroupsSkipped.Load() }},
	{series("groups_reset_total", "Groups given up for a viewer that fell behind.", "tier"), func(c *session.Counters) uint64 { return c.GroupsReset.Load() }},
	{series("stale_groups_total", "Groups that viewers did not get whole: skipped or given up.", "tier"), func(c *session.Counters) uint64 { return c.GroupsSkipped.Load() + c.GroupsReset.Load() }},
	{series("stale_frames_total", "Frames of those groups that were here and not sent.", "tier"), func(c *session.Counters) uint64 { return c.StaleFrames.Load() }},
	{series("stale_bytes_total", "Bytes of those frames, with their headers.", "tier"), func(c *session.Counters) uint64 { return c.StaleBytes.Load() }},
	{series("datagrams_lost_total", "Datagrams too large for the path or without room.", "tier"), func(c *session.Counters) uint64 { return c.DatagramsLost.Load() }},
	{series("streams_refused_total", "Streams of unknown type or with a malformed request.", "tier"), func(c *session.Counters) uint64 { return c.StreamsRefused.Load() }},
	{series("violations_total", "Sessions closed for a protocol violation.", "tier"), func(c *session.Counters) uint64 { return c.Violations.Load() }},
	{series("limited_total", "Requests and announcements refused by a limit.", "tier"), func(c *session.Counters) uint64 { return c.Limited.Load() }},
	{series("timeouts_total", "Requests and setups that got no answer in time.", "tier"), func(c *session.Counters) uint64 { return c.TimedOut.Load() }},
}

var (
	controlSentDesc     = series("control_tx_bytes_total", "Bytes of control messages sent.", "tier", "class")
	controlReceivedDesc = series("control_rx_bytes_total", "Bytes of control messages received.", "tier", "class")
	openedDesc          = series("sessions_opened_total", "Sessions authorised and taken in.", "tier")
	closedDesc          = series("sessions_closed_total", "Sessions ended, never more than were taken in.", "tier")
	endedDesc           = series("sessions_ended_total", "Sessions served and ended.", "tier", "reason")
	refusedDesc         = series("sessions_refused_total", "Sessions and requests refused.", "reason")
	sessionsDesc        = series("sessions", "Sessions open.", "transport")
	drainingDesc        = series("draining_sessions", "Sessions still open while draining.")
	cacheBytesDesc      = series("cache_bytes", "Memory held by cached groups, bookkeeping included.")
	cacheCapacityDesc   = series("cache_capacity_bytes", "Bound on cached groups; 0 = none.")
	cacheGroupsDesc     = series("cache_groups", "Groups held.")
	cacheDroppedDesc    = series("cache_dropped_groups_total", "Groups dropped from the cache.", "reason")
	rttDesc             = series("session_rtt_seconds", "Round trip time of the open sessions.")
	forwardDesc         = series("forward_seconds", "Time from a group's arrival to the hand-over of its first bytes to a viewer's stream; one group in 16 of a session, of those that arrive while it views.", "tier")
	queueDesc           = series("session_queue_bytes", "Bytes queued for the open sessions and not yet sent, as estimated.")
	broadcastsDesc      = series("broadcasts", "Paths announced now.")
	buildDesc           = series("build_info", "Version of the relay.", "version")
	acceptFailuresDesc  = series("accept_failures_total", "Failures to accept a TCP connection.", "listener", "class")
	acceptStalledDesc   = series("accept_stalled_seconds", "How long accepting has been failing.", "listener")
	lastSessionDesc     = series("last_session_timestamp_seconds", "Unix time at which a session last came in over a listener and a transport; 0 = none yet.", "listener", "transport")
	unmatchedDesc       = series("tls_unmatched_names_total", "Handshakes for a server name without a certificate of its own.")
)

func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, s := range trafficSeries {
		ch <- s.desc
	}
	for _, s := range eventSeries {
		ch <- s.desc
	}
	for _, d := range []*prometheus.Desc{controlSentDesc, controlReceivedDesc, openedDesc, closedDesc, endedDesc, refusedDesc,
		sessionsDesc, drainingDesc, cacheBytesDesc, cacheCapacityDesc, cacheGroupsDesc, cacheDroppedDesc, rttDesc,
		forwardDesc, queueDesc, broadcastsDesc, buildDesc, unmatchedDesc, acceptFailuresDesc, acceptStalledDesc, lastSessionDesc} {
		ch <- d
	}
}

func (c collector) Collect(ch chan<- prometheus.Metric) {
	c.collectTiers(ch)
	c.collectSessions(ch)
	c.collectCache(ch)
	c.collectListeners(ch)
	for reason, n := range c.r.refusals.byReason {
		ch <- counter(refusedDesc, n.Load(), reason)
	}
	ch <- gauge(broadcastsDesc, float64(c.r.origin.Len()))
	ch <- gauge(buildDesc, 1, conf.Build)
	if c.r.certs != nil {
		ch <- counter(unmatchedDesc, c.r.certs.Unmatched())
	}
}

func counter(d *prometheus.Desc, n uint64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
}

func gauge(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (c collector) collectTiers(ch chan<- prometheus.Metric) {
	c.r.tiers.each(func(tier string, n *tier) {
		ch <- counter(closedDesc, n.closed.Load(), tier) // first: it never exceeds what was opened
		ch <- counter(openedDesc, n.opened.Load(), tier)
		ch <- delays(forwardDesc, &n.Forwarding, tier)
		for _, s := range trafficSeries {
			ch <- counter(s.desc, s.read(&n.Egress), tier, "publisher")
			ch <- counter(s.desc, s.read(&n.Ingress), tier, "subscriber")
		}
		for _, s := range eventSeries {
			ch <- counter(s.desc, s.read(&n.Counters), tier)
		}
		for class, name := range session.Classes {
			ch <- counter(controlSentDesc, n.Control.Sent[class].Load(), tier, name)
			ch <- counter(controlReceivedDesc, n.Control.Received[class].Load(), tier, name)
		}
		for end, reason := range session.Ends {
			ch <- counter(endedDesc, n.Ended[end].Load(), tier, reason)
		}
	})
}

var (
	rttBuckets   = []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1}
	queueBuckets = []float64{0, 4 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 8 << 20}
)

func (c collector) collectSessions(ch chan<- prometheus.Metric) {
	byTransport := map[string]int{"quic": 0, "webtransport": 0, "websocket": 0}
	rtt, queue := newHistogram(rttBuckets), newHistogram(queueBuckets)
	list := c.r.sessions.list()
	for _, e := range list {
		byTransport[e.transport]++
		if d := e.conn.Stats().RTT; d > 0 {
			rtt.observe(d.Seconds())
		}
		if s, _, _ := e.opened(); s != nil {
			queue.observe(float64(s.Queued()))
		}
	}
	for name, n := range byTransport {
		ch <- gauge(sessionsDesc, float64(n), name)
	}
	draining := 0
	if c.r.draining.Load() {
		draining = len(list)
	}
	ch <- gauge(drainingDesc, float64(draining))
	ch <- rtt.metric(rttDesc)
	ch <- queue.metric(queueDesc)
}

func (c collector) collectCache(ch chan<- prometheus.Metric) {
	s := c.r.cache.Stats()
	ch <- gauge(cacheBytesDesc, float64(s.Used))
	ch <- gauge(cacheCapacityDesc, float64(s.Capacity))
	ch <- gauge(cacheGroupsDesc, float64(s.Groups))
	ch <- counter(cacheDroppedDesc, uint64(s.Evicted), "memory")
	ch <- counter(cacheDroppedDesc, uint64(s.Expired), "age")
}

// collectListeners says how the listeners fare; accepting fails on TCP only, where
// web is both public ones.
func (c collector) collectListeners(ch chan<- prometheus.Metric) {
	report := func(name string, listeners ...*webListener) {
		stalled := time.Duration(0)
		var failures [len(acceptClasses)]uint64
		for _, w := range listeners {
			stalled = max(stalled, w.ln.stalledFor(time.Now()))
			for class := range failures {
				failures[class] += w.ln.failures[class].Load()
			}
		}
		for class, n := range failures {
			ch <- counter(acceptFailuresDesc, n, name, acceptClasses[class])
		}
		ch <- gauge(acceptStalledDesc, stalled.Seconds(), name)
	}
	for kind, at := range c.r.arrivals.all() {
		ch <- gauge(lastSessionDesc, at, kind.listener, kind.transport)
	}
	if len(c.r.web) > 0 {
		report("web", c.r.web...)
	}
	if c.r.internal != nil {
		report("internal", c.r.internal)
	}
}
