package simmesh

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/url"

	"github.com/moqmesh/moqmesh/cluster"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// dialled is a session that a relay made with another one.
type dialled struct {
	*session.Session
	access session.Access
}

// Run serves the session.
func (d dialled) Run(ctx context.Context) error { return d.Session.Run(ctx, d.access) }

// Stats is what the transport knows of the path.
func (d dialled) Stats() session.Stats { return d.Conn().Stats() }

// dial makes a session with another relay, its announcements counted; a [cluster.Dial].
func (r *Relay) dial(ctx context.Context, req cluster.Request) (cluster.Dialled, error) {
	u, err := url.Parse(req.URL)
	if err != nil {
		return cluster.Dialled{}, err
	}
	l, err := r.linkTo(u.Host)
	if err != nil {
		return cluster.Dialled{}, err
	}
	d, err := transport.Dial(ctx, req.URL, transport.DialConfig{
		ALPNs: transport.ALPNs([]lite.Version{version}), Listen: l.listen,
		TLS: &tls.Config{InsecureSkipVerify: true}, WebSocketDelay: -1,
	})
	if err != nil {
		return cluster.Dialled{}, err
	}
	s, err := session.Handshake(ctx, l.count(d.Conn, 0), session.Config{
		Version: version, AssignedID: req.PeerID, LinkCost: req.LinkCost, Limits: limits,
		Setup:    lite.Setup{Path: d.Path, Cost: req.Declare, Hop: r.id, Probe: lite.ProbeReport},
		Counters: &l.ends[0].Counters, OnGoaway: req.OnGoaway,
	})
	if err != nil {
		d.Conn.Close(session.CodeInternal, "")
		return cluster.Dialled{}, fmt.Errorf("handshake: %w", err)
	}
	return cluster.Dialled{Session: dialled{s, session.Access{Origin: r.origin, Peer: true}}}, nil
}
