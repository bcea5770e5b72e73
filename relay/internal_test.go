package relay

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
	"github.com/moqmesh/moqmesh/relay/conf"
)

// metrics is a parsed scrape.
type metrics struct {
	help, kind map[string]int     // lines by series name
	value      map[string]float64 // by series with labels
}

var metricLine = regexp.MustCompile(`^([a-z_0-9]+)(\{.*\})? (\S+)$`)

func (n *node) scrape(t *testing.T) metrics {
	t.Helper()
	status, body := get(t, n.url("internal", "/metrics"))
	if status != 200 {
		t.Fatalf("/metrics: status %d: %s", status, body)
	}
	m := metrics{make(map[string]int), make(map[string]int), make(map[string]float64)}
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, _, _ := strings.Cut(rest, " ")
			m.help[name]++
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, _, _ := strings.Cut(rest, " ")
			m.kind[name]++
			continue
		}
		parts := metricLine.FindStringSubmatch(line)
		if parts == nil {
			t.Fatalf("/metrics: line %q", line)
		}
		v, err := strconv.ParseFloat(parts[3], 64)
		if err != nil {
			t.Fatalf("/metrics: line %q: %v", line, err)
		}
		m.value[parts[1]+parts[2]] = v
	}
	return m
}

// sum adds up the values of a series, whatever its labels.
func (m metrics) sum(name string) (total float64) {
	for series, v := range m.value {
		if base, _, _ := strings.Cut(series, "{"); base == name {
			total += v
		}
	}
	return total
}

func TestB7MetricsShape(t *testing.T) {
	n := start(t)
	pub, sub := dial(t, n.url("moqt", "/")), dial(t, n.url("https", "/"))
	w := pub.publish(t, "x", "video")
	s := sub.view(t, "x", "video")
	for i := range uint64(3) {
		write(t, w, i, "0123456789", "0123456789")
		expect(t, s, i, "0123456789", "0123456789")
	}
	m := n.scrape(t)
	for name, lines := range m.help {
		if lines != 1 || m.kind[name] != 1 {
			t.Errorf("%s has %d HELP and %d TYPE lines, want one each", name, lines, m.kind[name])
		}
	}
	for series, want := range map[string]float64{
		`moqmesh_relay_bytes_total{role="subscriber",tier=""}`:                60,
		`moqmesh_relay_frames_total{role="publisher",tier=""}`:                6,
		`moqmesh_relay_groups_total{role="publisher",tier=""}`:                3,
		`moqmesh_relay_subscriptions_opened_total{role="publisher",tier=""}`:  1,
		`moqmesh_relay_subscriptions_opened_total{role="subscriber",tier=""}`: 1,
		`moqmesh_relay_viewers_opened_total{role="publisher",tier=""}`:        1,
		`moqmesh_relay_viewers_opened_total{role="subscriber",tier=""}`:       1,
		`moqmesh_relay_sessions{transport="quic"}`:                            1,
		`moqmesh_relay_sessions{transport="webtransport"}`:                    1,
		`moqmesh_relay_sessions{transport="websocket"}`:                       0,
		`moqmesh_relay_sessions_opened_total{tier=""}`:                        2,
		`moqmesh_relay_sessions_closed_total{tier=""}`:                        0,
		`moqmesh_relay_broadcasts`:                                            1,
		`moqmesh_relay_draining_sessions`:                                     0,
	} {
		if got, ok := m.value[series]; !ok || got != want {
			t.Errorf("%s = %v (there: %v), want %v", series, got, ok, want)
		}
	}
	const headers = 6 * 8 // at most
	if got := m.value[`moqmesh_relay_bytes_total{role="publisher",tier=""}`]; got < 60 || got > 60+headers {
		t.Errorf("%v bytes went out for 60 of payload", got)
	}
	pub.leave()
	sub.leave()
	n.settled(t, 0)
	m = n.scrape(t)
	for _, what := range []string{"subscriptions_opened_total", "subscriptions_closed_total", "viewers_opened_total", "viewers_closed_total"} {
		if got := m.sum(prefix + what); got != 2 {
			t.Errorf("%s = %v after the end, want 2", what, got)
		}
	}
}

// Of the groups that arrive while a viewer is there, one in 16 is timed, and no way
// through the relay is longer than the test.
func TestForwardingIsTimed(t *testing.T) {
	n := start(t)
	began := time.Now()
	w := dial(t, n.url("moqt", "/")).publish(t, "x", "video")
	s := dial(t, n.url("https", "/")).view(t, "x", "video")
	for i := range uint64(16) {
		write(t, w, i, "frame")
		expect(t, s, i, "frame")
	}
	m := n.scrape(t)
	count, sum := m.value[prefix+`forward_seconds_count{tier=""}`], m.value[prefix+`forward_seconds_sum{tier=""}`]
	if count != 1 || sum <= 0 || sum > time.Since(began).Seconds() {
		t.Errorf("%v groups of 16 timed, %v s in all; want one", count, sum)
	}
}

// B7: what closed is never more than what opened, also while both change.
func TestB7ClosedNeverAboveOpened(t *testing.T) {
	n := start(t)
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		egress := &n.tiers.counters("").Egress
		for !stop.Load() {
			egress.SubscriptionsOpened.Add(1)
			egress.AnnouncesStarted.Add(1)
			egress.SubscriptionsClosed.Add(1)
			egress.AnnouncesEnded.Add(1)
		}
	}()
	defer func() { stop.Store(true); <-done }()
	reg := n.metrics()
	for range 200 {
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		totals := make(map[string]float64)
		for _, f := range families {
			for _, m := range f.GetMetric() {
				totals[strings.TrimPrefix(f.GetName(), prefix)] += m.GetCounter().GetValue()
			}
		}
		for closed, opened := range map[string]string{
			"subscriptions_closed_total": "subscriptions_opened_total",
			"announces_ended_total":      "announces_started_total",
		} {
			if totals[closed] > totals[opened] {
				t.Fatalf("%s %v is above %s %v", closed, totals[closed], opened, totals[opened])
			}
		}
	}
}

// B9: each kind of control traffic is counted in its class, both ways, and
// media in none.
func TestB9ControlBytesByClass(t *testing.T) {
	for _, v := range []lite.Version{lite.V03, lite.V04, lite.V05, lite.V06} {
		t.Run(v.String(), func(t *testing.T) {
			t.Parallel()
			n := start(t, withVersions(v))
			pub, sub := dial(t, n.url("moqt", "/")), dial(t, n.url("moqt", "/"))
			w := pub.publish(t, "x", "video")
			s := sub.view(t, "x", "video")
			const media = 100_000
			write(t, w, 0, strings.Repeat("m", media))
			expect(t, s, 0, strings.Repeat("m", media))
			classes := []string{"announce", "subscribe"}
			if v.HasSetup() {
				classes = append(classes, "session")
			}
			if v.HasTrackInfo() {
				classes = append(classes, "track_info")
			}
			m := n.scrape(t)
			for _, class := range classes {
				for _, direction := range []string{"tx", "rx"} {
					name := fmt.Sprintf("%scontrol_%s_bytes_total{class=%q,tier=\"\"}", prefix, direction, class)
					if got := m.value[name]; got == 0 {
						t.Errorf("%s = 0", name)
					}
				}
			}
			if got := m.sum(prefix+"control_tx_bytes_total") + m.sum(prefix+"control_rx_bytes_total"); got > media/10 {
				t.Errorf("%v bytes of control for %d of media in one group", got, media)
			}
		})
	}
}

func TestSessionsFilters(t *testing.T) {
	n := start(t)
	dial(t, n.url("moqt", "/room/1?jwt="), as(lite.RolePublisher))
	dial(t, n.url("https", "/room/2"))
	dial(t, n.url("ws", "/other"), as(lite.RoleSubscriber))
	n.settled(t, 3)
	list := func(query string) (paths []string) {
		t.Helper()
		status, body := get(t, n.url("internal", "/sessions"+query))
		var answer struct{ Sessions []sessionInfo }
		if err := json.Unmarshal([]byte(body), &answer); status != 200 || err != nil {
			t.Fatalf("GET /sessions%s = %d %q: %v", query, status, body, err)
		}
		for _, s := range answer.Sessions {
			paths = append(paths, s.Path)
			if s.ID == "" || s.Transport == "" || s.Proto == "" || s.Started == 0 ||
				!strings.HasPrefix(s.Remote, "127.0.0.1:") || !strings.HasPrefix(s.Local, "127.0.0.1:") {
				t.Errorf("session with gaps: %+v", s)
			}
		}
		slices.Sort(paths)
		return paths
	}
	for query, want := range map[string]string{
		"":                                    "other room/1 room/2",
		"?path=room/**":                       "room/1 room/2",
		"?path=room/**&transport=quic":        "room/1",
		"?transport=quic&transport=websocket": "other room/1",
		"?role=subscriber":                    "other",
		"?role=":                              "room/2",
		"?remote=127.0.0.0/8":                 "other room/1 room/2",
		"?remote=::ffff:127.0.0.1":            "other room/1 room/2",
		"?remote=10.0.0.0/8":                  "",
		"?proto=moq-lite-06":                  "other room/1 room/2",
		"?id=0":                               "",
	} {
		if got := strings.Join(list(query), " "); got != want {
			t.Errorf("/sessions%s lists %q, want %q", query, got, want)
		}
	}
	for query, want := range map[string]string{
		"?query=x":     "unknown filter field: query\n",
		"?remote=here": "invalid remote: ",
		"?path=a**":    "invalid path: ",
	} {
		if status, body := get(t, n.url("internal", "/sessions"+query)); status != 400 || !strings.HasPrefix(body, want) {
			t.Errorf("/sessions%s = %d %q, want 400 %q", query, status, body, want)
		}
	}
}

func TestNodesOfARelayOnItsOwn(t *testing.T) {
	n := start(t)
	if status, body := get(t, n.url("internal", "/nodes")); status != 200 || strings.TrimSpace(body) != `{"nodes":[]}` {
		t.Errorf("/nodes = %d %q", status, body)
	}
}

// A70: names of broadcasts, tracks and paths are never labels.
func TestA70SeriesStayAsManyUnderManyNames(t *testing.T) {
	const names = 10_000
	n := start(t, func(c *conf.Relay) { c.Limits.AnnouncementsPerSession = 0 })
	many := func(c *client.Config) { c.Limits.Announcements = 2 * names }
	pub, sub := dial(t, n.url("moqt", "/")), dial(t, n.url("moqt", "/"), many)
	w := pub.publish(t, "first", "video")
	s := sub.view(t, "first", "video")
	write(t, w, 0, "frame")
	expect(t, s, 0, "frame")
	ours := func() (count int) {
		for series := range n.scrape(t).value {
			if strings.HasPrefix(series, prefix) {
				count++
			}
		}
		return count
	}
	before := ours()
	for i := range names {
		pub.publish(t, fmt.Sprintf("many/%d", i), "video")
	}
	eventually(t, "all announced", func() bool { return n.origin.Len() == names+1 })
	for i := range 20 {
		write(t, pub.publish(t, fmt.Sprintf("read/%d", i), "video"), 0, "frame")
		expect(t, sub.view(t, fmt.Sprintf("read/%d", i), "video"), 0, "frame")
	}
	if after := ours(); after != before {
		t.Errorf("%d series before, %d after %d names", before, after, names)
	}
}
