package conf

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/internal/config"
)

// Validate reports everything that is wrong with r as one error, a
// [config.Problems] in which each problem names its key. It looks at nothing
// but r: whether files exist and fit together is for [CheckMain] and for
// those who read them.
func (r Relay) Validate() error { return r.problems().Err() }

func (r Relay) problems() config.Problems {
	var c checker
	c.listen(r.Listen)
	c.connect(r.Connect)
	c.quic(r.QUIC)
	c.cluster(r.Cluster)
	c.auth(r)
	c.web(r.Web)
	c.cache(r.Cache)
	c.limits(r.Limits)
	c.notNegative("drain_timeout", r.DrainTimeout)
	return c.found
}

// checker collects problems.
type checker struct{ found config.Problems }

// fail records a problem with key when it holds.
func (c *checker) fail(holds bool, key, format string, args ...any) {
	if holds {
		c.found = append(c.found, config.Problem{Key: key, Text: fmt.Sprintf(format, args...)})
	}
}

func (c *checker) notNegative(key string, d time.Duration) {
	c.fail(d < 0, key, "must not be negative")
}

func (c *checker) pairs(table string, certs, keys []string) {
	c.fail(len(certs) != len(keys), table+".cert",
		"%d certificates but %d keys in %s.key: they are paired by position", len(certs), len(keys), table)
}

func (c *checker) listen(l Listen) {
	c.pairs("listen.tls", l.TLS.Cert, l.TLS.Key)
	certified := len(l.TLS.Cert) > 0 || len(l.TLS.Generate) > 0
	c.fail(l.Bind != "" && !certified, "listen.bind",
		"QUIC needs a certificate: set listen.tls.cert and listen.tls.key, or listen.tls.generate")
	c.fail(len(l.TLS.Scopes) > 0 && len(l.TLS.Root) == 0, "listen.tls.scopes", "needs listen.tls.root")
	c.fail(l.Bind == "" && l.TCP.Bind == "" && l.Unix.Bind == "", "listen.bind",
		"nothing to listen on: set it, listen.tcp.bind or listen.unix.bind")
	c.notNegative("listen.timeout", l.Timeout)
}

func (c *checker) connect(o Connect) {
	t := o.TLS
	trusts := len(t.Root) > 0 || len(t.Fingerprint) > 0 || t.SystemRoots != nil && *t.SystemRoots
	c.fail(t.Insecure && trusts, "connect.tls.insecure",
		"verifies nothing, so it excludes root, fingerprint and system_roots")
	c.fail(len(t.Fingerprint) > 0 && (len(t.Root) > 0 || t.SystemRoots != nil && *t.SystemRoots), "connect.tls.fingerprint",
		"replaces the check of the chain, so it excludes root and system_roots")
	noRoots := t.SystemRoots != nil && !*t.SystemRoots && len(t.Root) == 0
	c.fail(noRoots && len(t.Fingerprint) == 0 && !t.Insecure, "connect.tls.system_roots",
		"leaves nothing to trust: set connect.tls.root or connect.tls.fingerprint")
	c.fail((t.Cert == "") != (t.Key == ""), "connect.tls.cert", "needs connect.tls.key, and the other way round")
	for _, f := range t.Fingerprint {
		b, err := hex.DecodeString(f)
		c.fail(err != nil || len(b) != 32, "connect.tls.fingerprint", "found %q, want 64 hexadecimal digits", f)
	}
	c.backoff(o.Backoff)
	c.fail(o.Goaway.Handover < 0, "connect.goaway.handover", "must not be negative")
}

func (c *checker) backoff(b Backoff) {
	c.fail(b.Multiplier < 1, "connect.backoff.multiplier", "must be at least 1")
	c.fail(b.Max < b.Initial, "connect.backoff.max", "must not be below connect.backoff.initial")
}

func (c *checker) quic(q QUIC) {
	c.fail(q.MaxStreams == 0 || q.MaxStreams > 1<<60, "quic.max_streams", "must be from 1 to 2^60")
	c.fail(q.IdleTimeout > 0 && q.KeepAlive >= q.IdleTimeout, "quic.keep_alive",
		"must be below quic.idle_timeout, or idle connections die in between")
	c.fail(q.ReceiveWindow > 0 && q.StreamReceiveWindow > q.ReceiveWindow, "quic.stream_receive_window",
		"must not be above quic.receive_window")
}

func (c *checker) cluster(l Cluster) {
	if l.ID != nil {
		c.fail(*l.ID == 0, "cluster.id", "--cluster-id must be non-zero")
		c.fail(*l.ID >= 1<<62, "cluster.id", "--cluster-id must be below 2^62 (wire varint limit), got %d", *l.ID)
	}
	c.fail(l.MaxHops < 1 || l.MaxHops > 32, "cluster.max_hops", "--cluster-max-hops must be from 1 to 32")
	node := l.NodeURL()
	if node != "" {
		_, err := peers.ParseNode(node)
		c.fail(err != nil, "cluster.node", "%v", err)
	}
	c.fail(l.Mesh.On && node == "", "cluster.mesh", "--cluster-mesh needs --cluster-node")
	c.fail(l.Mesh.Node != "" && l.Mesh.Node != node, "cluster.mesh",
		"the released form with a URL conflicts with cluster.node: set cluster.mesh to true")
	_, _, err := l.Entries()
	c.fail(err != nil, "cluster.connect", "%v", err)
	c.notNegative("cluster.linger", l.Linger)
}

func (c *checker) auth(r Relay) {
	a := r.Auth
	public := len(a.Public)+len(a.PublicSubscribe)+len(a.PublicPublish) > 0
	keyed := a.Key != "" || a.KeyDir != ""
	c.fail(a.Key != "" && a.KeyDir != "", "auth.key_dir", "excludes auth.key")
	c.fail(a.API != "" && (keyed || public), "auth.auth_api", "excludes auth.key, auth.key_dir and public rules")
	certificates := len(r.Listen.TLS.Root)+len(r.Web.HTTPS.Root) > 0
	c.fail(!keyed && !public && a.API == "" && !certificates, "auth",
		"nobody could connect: set auth.key, auth.key_dir, auth.auth_api or public rules, or accept client certificates with listen.tls.root")
	for _, d := range a.Domains {
		c.fail(d == "" || strings.ContainsAny(d, "/: "), "auth.domains", "found %q, want a host name such as \"cdn.example\"", d)
	}
}

func (c *checker) web(w Web) {
	c.pairs("web.https", w.HTTPS.Cert, w.HTTPS.Key)
	c.fail(w.HTTPS.Listen != "" && len(w.HTTPS.Cert) == 0, "web.https.listen", "needs web.https.cert and web.https.key")
}

func (c *checker) cache(h Cache) {
	c.fail(h.Headroom.Percent >= 100, "cache.headroom", "leaves nothing for the cache")
	c.notNegative("cache.duration", h.Duration)
}

func (c *checker) limits(l Limits) {
	c.fail(l.OpenGroupsPerSubscription == 0, "limits.open_groups_per_subscription", "must be at least 1")
	c.fail(l.QueuePerSession < 64<<10, "limits.queue_per_session", "must be at least 64KiB")
}
