package relay

import (
	"strings"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
	"github.com/moqmesh/moqmesh/relay/conf"
)

// withDrain sets how long sessions may stay after a stop.
func withDrain(d time.Duration) edit { return func(c *conf.Relay) { c.DrainTimeout = d } }

// hearing tells of each GOAWAY.
func hearing(to chan<- string) func(*client.Config) {
	return func(c *client.Config) { c.OnGoaway = func(uri string) { to <- uri } }
}

func heard(t *testing.T, from <-chan string) string {
	t.Helper()
	select {
	case uri := <-from:
		return uri
	case <-bounded(t).Done():
		t.Fatal("no GOAWAY")
		return ""
	}
}

// runOut waits for the relay's end and says how long that took.
func (n *node) runOut(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	select {
	case <-n.over:
	case <-bounded(t).Done():
		t.Fatal("the relay never ends")
	}
	return time.Since(began)
}

func (n *node) logged(t *testing.T, lines ...string) {
	t.Helper()
	log := n.log.String()
	for _, line := range lines {
		if !strings.Contains(log, line) {
			t.Errorf("the log does not say %q", line)
		}
	}
}

// I1, I4: every version with GOAWAY hears it on every transport, once and
// without a URI; when all have left the relay ends at once.
func TestI1GoawayOnEveryVersion(t *testing.T) {
	for _, v := range []lite.Version{lite.V04, lite.V05, lite.V06WIP, lite.V06, lite.V07WIP} {
		t.Run(v.String(), func(t *testing.T) {
			t.Parallel()
			n := start(t, withVersions(v), withDrain(time.Minute))
			said := make(chan string, 8)
			var all []*party
			for _, scheme := range allTransports {
				all = append(all, dial(t, n.url(scheme, "/"), speaking(v), hearing(said)))
			}
			n.settled(t, len(all))
			n.drain()
			for range all {
				if uri := heard(t, said); uri != "" {
					t.Errorf("GOAWAY to %q, want no URI", uri)
				}
			}
			if status, body := get(t, n.url("http", "/ready")); status != 503 || body != "draining\n" {
				t.Errorf("/ready = %d %q", status, body)
			}
			if got := n.metric(t, "moqmesh_relay_draining_sessions"); got != "3" {
				t.Errorf("draining_sessions = %s, want 3", got)
			}
			for _, p := range all {
				p.leave()
			}
			n.runOut(t)
			if len(said) > 0 {
				t.Error("a second GOAWAY was sent")
			}
			n.logged(t, "shutdown requested; draining sessions", "drain complete: every session left; exiting")
		})
	}
}

// I3: a version without GOAWAY is told nothing and closed on time; I10: who
// overstays is closed by force, with the code that says so.
func TestI10OverstayingIsClosedByForce(t *testing.T) {
	const window = 300 * time.Millisecond
	for _, v := range []lite.Version{lite.V02, lite.V03, lite.V04, lite.V06} {
		t.Run(v.String(), func(t *testing.T) {
			t.Parallel()
			n := start(t, withVersions(v), withDrain(window))
			var all []*party
			for _, scheme := range allTransports {
				all = append(all, dial(t, n.url(scheme, "/"), speaking(v)))
			}
			n.settled(t, len(all))
			n.drain()
			if took := n.runOut(t); took < window || took > window+time.Second {
				t.Errorf("ended after %v, want the window of %v and at most a second", took, window)
			}
			for i, p := range all {
				if closed := p.closedWith(t); closed.Code != session.CodeGoawayTimeout {
					t.Errorf("%s: closed with %v, want %v", allTransports[i], closed, session.CodeGoawayTimeout)
				}
			}
			n.logged(t, "drain deadline force-closed sessions; exiting")
		})
	}
}

// I6: what runs goes on during a drain, and nothing new begins.
func TestI6RunningSubscriptionsGoOn(t *testing.T) {
	n := start(t, withDrain(time.Minute))
	said := make(chan string, 8)
	w := dial(t, n.url("moqt", "/"), hearing(said)).publish(t, "x", "video")
	write(t, w, 0, "before")
	viewer := dial(t, n.url("https", "/"), hearing(said))
	b := viewer.await(t, "x")
	running := subscribe(t, b, "video")
	expect(t, running, 0, "before")
	n.drain()
	heard(t, said)
	heard(t, said)
	write(t, w, 1, "during")
	expect(t, running, 1, "during")
	late, err := b.Subscribe(moq.TrackKey{Name: "audio"}, moq.SubscribeOptions{}, nil)
	if err == nil {
		defer late.Close()
		_, _, err = late.NextGroup(bounded(t))
	}
	if err == nil {
		t.Error("a new subscription was served while draining")
	}
}

// Who comes during a drain is let in and told to leave again.
func TestI7LateArrivalsAreTold(t *testing.T) {
	n := start(t, withDrain(time.Minute))
	said := make(chan string, 8)
	first := dial(t, n.url("moqt", "/"), hearing(said))
	n.settled(t, 1)
	n.drain()
	heard(t, said)
	for _, scheme := range allTransports {
		late := dial(t, n.url(scheme, "/"), hearing(said))
		heard(t, said)
		late.leave()
	}
	n.settled(t, 1)
	first.leave()
	n.runOut(t)
}

func TestI9WithoutATimeoutAllCloseAtOnce(t *testing.T) {
	n := start(t, withDrain(0))
	said := make(chan string, 1)
	var all []*party
	for _, scheme := range allTransports {
		all = append(all, dial(t, n.url(scheme, "/"), hearing(said)))
	}
	n.settled(t, len(all))
	n.drain()
	n.runOut(t)
	for i, p := range all {
		if closed := p.closedWith(t); closed.Code != session.CodeNoError {
			t.Errorf("%s: closed with %v, want no error", allTransports[i], closed)
		}
	}
	if len(said) > 0 {
		t.Error("a GOAWAY was sent")
	}
}

func TestI10SecondSignal(t *testing.T) {
	n := start(t, withDrain(time.Minute))
	said := make(chan string, 1)
	dial(t, n.url("moqt", "/"), hearing(said))
	n.settled(t, 1)
	n.drain()
	heard(t, said)
	n.kill()
	if took := n.runOut(t); took > time.Second {
		t.Errorf("ended %v after the second signal", took)
	}
	n.logged(t, "second shutdown signal; exiting immediately")
}

// I11: a relay that is told to stop before it runs takes nobody in.
func TestI11StoppedBeforeItRuns(t *testing.T) {
	r, err := New(testConfig(), Options{})
	if err == nil {
		err = r.Listen(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx := cancelled(t)
	if err := r.Run(ctx, ctx); err != nil {
		t.Errorf("Run = %v", err)
	}
}
