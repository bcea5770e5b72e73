package relay

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/moqmesh/moqmesh/cluster"
	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/internal/certs"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
	"github.com/moqmesh/moqmesh/relay/auth"
	"github.com/moqmesh/moqmesh/relay/conf"
)

// makeCluster prepares the links that a configuration asks for.
func (r *Relay) makeCluster(cfg conf.Relay) error {
	static, err := r.staticPeers(cfg)
	if err != nil {
		return err
	}
	if cfg.Cluster.Token != "" {
		if r.clusterToken, err = cluster.ReadToken(cfg.Cluster.Token); err != nil {
			return err
		}
	}
	if cfg.Cluster.Mesh.Node != "" {
		r.log.Warn("DEPRECATED: cluster.mesh takes true or false; give the URL as cluster.node")
	}
	r.cluster, err = cluster.New(cluster.Config{
		Static: static, Token: r.clusterToken,
		Node: cfg.Cluster.NodeURL(), Mesh: cfg.Cluster.Mesh.On,
		ConnectAPI: cfg.Cluster.ConnectAPI, Client: r.dials.HTTPClient(),
		Dial: r.dialPeer, Origin: r.origin,
		Redirect: redirects[cfg.Connect.Goaway.Redirect], Handover: cfg.Connect.Goaway.Handover,
		Log: r.log, Counters: &r.links,
	})
	return err
}

var redirects = map[conf.Redirect]peers.RedirectPolicy{
	"same-host": peers.SameHost, "follow": peers.Follow, "ignore": peers.Ignore,
}

// staticPeers are the relays to dial, with a warning for each that is written in
// the released way.
func (r *Relay) staticPeers(cfg conf.Relay) ([]peers.Entry, error) {
	list, bare, err := cfg.Cluster.Entries()
	if err != nil {
		return nil, fmt.Errorf("cluster.connect: %w", err)
	}
	for _, url := range bare {
		r.log.Warn("DEPRECATED: pass --cluster-connect as a full URL", "peer", url)
	}
	return list, nil
}

// dialPeer makes a session with another relay; a [cluster.Dial].
func (r *Relay) dialPeer(ctx context.Context, req cluster.Request) (cluster.Dialled, error) {
	id := r.sessions.nextID.Add(1)
	c := r.cfg.Load()
	d, err := cluster.DialClient(client.Config{
		Dial:     r.peerDial(ctx, c),
		Versions: versions(c.Connect.Version),
		Origin:   r.origin,
		Limits:   *r.peerLimits(),
		Counters: r.tiers.counters(c.Cluster.Tier),
		Log:      r.log.With("conn", id),
	})(ctx, req)
	d.Conn = id
	return d, err
}

func (r *Relay) peerDial(ctx context.Context, c *conf.Relay) transport.DialConfig {
	d := transport.DialConfig{
		TLS: r.dials.TLS(), QUIC: quicConfig(c.QUIC),
		Timeout: cmp.Or(c.Connect.Timeout, forever), Race: c.Connect.Race, ResolutionDelay: cmp.Or(c.Connect.ResolutionDelay, -1),
		WebSocketDelay: c.Connect.WebSocket.Delay,
		Pin: func(fingerprint string) *tls.Config {
			t := c.Connect.TLS
			pinned, err := certs.ClientTLS(ctx, certs.ClientConfig{Fingerprints: []string{fingerprint}, Cert: t.Cert, Key: t.Key})
			if err != nil {
				return &tls.Config{VerifyConnection: func(tls.ConnectionState) error { return err }}
			}
			return pinned
		},
	}
	if !c.Connect.WebSocket.Enabled {
		d.WebSocketDelay = -1
	}
	return d
}

// errTwin is what a relay with our own hop id is told.
var errTwin = errors.New("hop id in use")

// joinCluster takes note of a session that is a peer's. An error says that it must
// not be served.
func (r *Relay) joinCluster(s *session.Session, e *live, g auth.Grant, setup lite.Setup) (leave func(), err error) {
	if !g.Peer {
		return func() {}, nil
	}
	leave, err = r.cluster.Join(cluster.Inbound{
		Conn: e.id, Remote: e.remote.String(), Proto: s.Version().String(), Setup: setup,
		Since: e.started, Stats: e.conn.Stats,
	})
	if err != nil {
		s.Close(session.CodeUnauthorized, errTwin.Error())
	}
	return leave, err
}

// forever is a time that nobody waits for, for those who take zero as a default and
// not as "none".
const forever = 24 * time.Hour
