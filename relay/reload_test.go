package relay

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
	"github.com/moqmesh/moqmesh/relay/conf"
)

// reload applies edits to the running configuration.
func (n *node) reload(edits ...edit) error {
	next := *n.cfg.Load()
	for _, e := range edits {
		e(&next)
	}
	return n.Reload(next)
}

// A48: a reload changes what it says, and leaves alone what plays.
func TestA48ReloadDuringPlayback(t *testing.T) {
	n := start(t)
	w := dial(t, n.url("moqt", "/")).publish(t, "x", "video")
	viewer := dial(t, n.url("https", "/"))
	s := viewer.view(t, "x", "video")
	for i, change := range []edit{
		func(c *conf.Relay) { c.Auth = conf.Auth{PublicSubscribe: conf.Rules{"**"}} },
		func(c *conf.Relay) { c.Limits.Sessions = 3 },
		func(c *conf.Relay) { c.Cache.Capacity.Bytes = 1 << 20 },
		func(c *conf.Relay) { c.Log.Level = "warn" },
		func(c *conf.Relay) { c.Listen.Bind = "127.0.0.1:1" },
	} {
		if err := n.reload(change); err != nil {
			t.Fatal(err)
		}
		write(t, w, uint64(i), "frame")
		expect(t, s, uint64(i), "frame")
	}
	n.logged(t, `msg="configuration changed" key=auth.public_subscribe`, `msg="configuration changed" key=limits.sessions`,
		`msg="configuration changed" key=cache.capacity`, `msg="configuration changed" key=log.level`,
		`msg="configuration change needs a restart" key=listen.bind`)
	mustRefuse(t, n, "moqt", "/", "role-not-granted", as(lite.RolePublisher)) // by the new rules
	n.settled(t, 2)
	dial(t, n.url("moqt", "/"))
	n.settled(t, 3)
	if closed := turnedAway(t, n.url("moqt", "/")); closed.Code != appCode(503) || closed.Reason != refusedSessions {
		t.Errorf("the fourth session of three was closed with %v", closed)
	}
}

// A reload that cannot be applied whole is not applied at all.
func TestReloadIsAllOrNothing(t *testing.T) {
	n := start(t)
	err := n.reload(func(c *conf.Relay) {
		c.Limits.Sessions = 1
		c.Auth = conf.Auth{Key: "no/such/file.jwk"}
	})
	if err == nil || !strings.Contains(err.Error(), "no/such/file.jwk") {
		t.Errorf("reload with a missing key file: %v", err)
	}
	for range 2 {
		dial(t, n.url("moqt", "/"))
	}
	n.settled(t, 2)
}

// Two reloads at once end in one of the two configurations.
func TestReloadsDoNotMix(t *testing.T) {
	n := start(t)
	var wg sync.WaitGroup
	for i := range uint64(8) {
		wg.Go(func() {
			next := testConfig()
			next.Limits.Sessions, next.Limits.SessionsPerAddress = i, i
			if err := n.Reload(next); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if l := n.cfg.Load().Limits; l.Sessions != l.SessionsPerAddress {
		t.Errorf("limits are %d and %d, of two configurations", l.Sessions, l.SessionsPerAddress)
	}
}

// turnedAway dials, and returns the close that answers it sooner or later.
func turnedAway(t *testing.T, url string) *session.CloseError {
	t.Helper()
	p, err := tryDial(t, url)
	if err == nil {
		return p.closedWith(t)
	}
	var closed *session.CloseError
	if !errors.As(err, &closed) {
		t.Fatal(err)
	}
	return closed
}

// An address that holds its share is told so, and served again when it leaves.
func TestLimitPerAddress(t *testing.T) {
	n := start(t, func(c *conf.Relay) { c.Limits.SessionsPerAddress = 1 })
	for _, scheme := range allTransports {
		first := dial(t, n.url(scheme, "/"))
		n.settled(t, 1)
		if closed := turnedAway(t, n.url(scheme, "/")); closed.Code != appCode(503) || closed.Reason != refusedAddress {
			t.Errorf("%s: closed with %v", scheme, closed)
		}
		first.leave()
		n.settled(t, 0)
	}
	if got := n.metric(t, `moqmesh_relay_sessions_refused_total{reason="limit_sessions_per_address"}`); got != "3" {
		t.Errorf("%s refusals counted, want 3", got)
	}
}
