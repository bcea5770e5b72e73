package relay

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
	"github.com/moqmesh/moqmesh/relay/auth"
)

// appCode carries an HTTP status in a session close: application codes are
// offset by 64 (relay.md §2).
func appCode(status int) session.SessionCode { return session.SessionCode(64 + status) }

// arrival is a connection with what is known before its SETUP.
type arrival struct {
	conn      session.Conn
	listener  string // quic, http or https
	transport string
	alpn      string
	request   auth.Request
	grant     *auth.Grant // decided already; nil where SETUP comes first
}

// serveIncoming serves a QUIC or WebTransport connection.
func (r *Relay) serveIncoming(ctx context.Context, in *transport.Incoming) {
	a := arrival{conn: in.Conn, listener: "quic", transport: in.Transport, alpn: in.ALPN}
	a.request = auth.Request{
		Transport: in.Transport, ServerName: in.TLS.ServerName,
		Remote: addrPort(in.Conn.RemoteAddr()), Certificate: leaf(in.TLS.VerifiedChains),
	}
	if in.URL != nil {
		a.request.Path, a.request.Query = in.URL.Path, in.URL.RawQuery
	}
	r.serveSession(ctx, a)
}

func leaf(chains [][]*x509.Certificate) *x509.Certificate {
	if len(chains) == 0 {
		return nil
	}
	return chains[0][0]
}

func addrPort(a net.Addr) netip.AddrPort {
	switch a := a.(type) {
	case *net.UDPAddr:
		p := a.AddrPort()
		return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
	case *net.TCPAddr:
		p := a.AddrPort()
		return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
	}
	return netip.AddrPort{}
}

// serveSession takes a connection through SETUP and authorisation and serves it
// to its end.
func (r *Relay) serveSession(ctx context.Context, a arrival) {
	r.arrivals.came(time.Now(), arrivalKind{a.listener, a.transport})
	e, reason := r.sessions.admit(a)
	log := r.log.With("conn", e.id)
	if reason != "" {
		r.refusals.add(reason)
		log.Debug("session refused", "reason", reason)
		a.conn.Close(appCode(503), reason)
		return
	}
	defer r.sessions.remove(e)
	s, err := r.handshake(ctx, a, log)
	if err != nil {
		r.refusals.add(refusedSetup)
		log.Debug("handshake", "err", err)
		return
	}
	grant, err := r.authorise(ctx, a, s)
	if err != nil {
		r.refuse(s, log, err)
		return
	}
	r.runSession(ctx, s, e, grant, log)
}

func (r *Relay) handshake(ctx context.Context, a arrival, log *slog.Logger) (*session.Session, error) {
	if d := r.cfg.Load().Listen.Timeout; d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	v, err := transport.VersionOf(a.alpn)
	if err != nil {
		a.conn.Close(session.CodeVersion, "")
		return nil, err
	}
	setup := lite.Setup{Hop: r.origin.ID()}
	if a.transport != "websocket" {
		setup.Probe = lite.ProbeReport
	}
	return session.Handshake(ctx, a.conn, session.Config{
		Server: true, Version: v, Legacy: transport.Legacy(r.versions), Setup: setup,
		Limits: r.sessionLimits(), Log: log, Counters: r.tiers.counters(""),
	})
}

// sessionLimits says the configured limits in the session's words. Zero means
// none there and the default here, so "none" becomes a number out of reach.
func (r *Relay) sessionLimits() session.Limits {
	c := r.cfg.Load()
	orHuge := func(n uint64) int {
		if n == 0 {
			return 1 << 30
		}
		return int(min(n, 1<<30))
	}
	return session.Limits{
		Subscriptions: orHuge(c.Limits.SubscriptionsPerSession),
		Announcements: orHuge(c.Limits.AnnouncementsPerSession),
		OpenGroups:    orHuge(c.Limits.OpenGroupsPerSubscription),
		QueueBytes:    int(c.Limits.QueuePerSession),
		Bandwidth:     int64(c.Limits.BandwidthPerSession),
		MaxHops:       c.Cluster.MaxHops,
	}
}

// Bounds on what another relay of the cluster may hold. It stands for all of its
// clients: the limits of one client are not for it, and these only keep a relay that
// has gone wrong from taking another with it.
const (
	peerSubscriptions = 100_000
	peerAnnouncements = 1_000_000
)

func (r *Relay) peerLimits() *session.Limits {
	l := r.sessionLimits()
	l.Subscriptions, l.Requests = peerSubscriptions, peerSubscriptions
	l.Announcements, l.Bandwidth = peerAnnouncements, 0
	return &l
}

// authorise asks what the session may do, unless that was decided before the
// upgrade and SETUP says nothing new.
func (r *Relay) authorise(ctx context.Context, a arrival, s *session.Session) (auth.Grant, error) {
	setup, err := s.PeerSetup(ctx)
	if err != nil {
		return auth.Grant{}, err
	}
	if setup.Path != "" { // it wins over the URL
		path, query, _ := strings.Cut(setup.Path, "?")
		if p, err := url.PathUnescape(path); err == nil {
			path = p
		}
		a.request.Path = path
		if query != "" {
			a.request.Query = query
		}
	} else if a.grant != nil && setup.Role == lite.RoleBoth {
		return *a.grant, nil
	}
	switch setup.Role {
	case lite.RolePublisher:
		a.request.Role = auth.Publisher
	case lite.RoleSubscriber:
		a.request.Role = auth.Subscriber
	}
	return r.auth.Load().Authorize(ctx, time.Now(), a.request)
}

// refuse closes a session with a code that its client can read.
func (r *Relay) refuse(s *session.Session, log *slog.Logger, err error) {
	var refusal *auth.Refusal
	if !errors.As(err, &refusal) {
		r.refusals.add(refusedSetup)
		s.Close(session.CodeInternal, "")
		return
	}
	log.Info("session refused", "status", refusal.Status, "code", refusal.Code, "err", refusal.Err)
	code := session.CodeUnauthorized
	if refusal.Status != 401 && refusal.Status != 403 {
		code = appCode(refusal.Status)
	}
	s.Close(code, refusal.Code)
}

// runSession serves an authorised session, at most until its grant expires.
func (r *Relay) runSession(ctx context.Context, s *session.Session, e *live, g auth.Grant, log *slog.Logger) {
	setup, _ := s.PeerSetup(ctx)
	counts := r.tiers.get(g.Tier)
	e.open(s, g, setup, counts)
	if r.draining.Load() {
		r.sayGoodbye(ctx, s)
	}
	if !g.Expires.IsZero() {
		timer := time.AfterFunc(time.Until(g.Expires), func() {
			log.Info("credential expired, closing session")
			s.Close(session.CodeUnauthorized, "expired")
		})
		defer timer.Stop()
	}
	log.Info("session accepted", "transport", e.transport, "proto", s.Version().String(),
		"tier", g.Tier, "root", g.Root, "subject", g.Subject)
	leave, err := r.joinCluster(s, e, g, setup)
	if err != nil {
		return
	}
	defer leave()
	access := session.Access{
		Origin: r.origin, Root: g.Root,
		Publish: g.Publish.Match, Subscribe: g.Subscribe.Match,
		NoPublish:   len(g.Publish) == 0 || setup.Role == lite.RoleSubscriber,
		NoSubscribe: len(g.Subscribe) == 0 || setup.Role == lite.RolePublisher,
		Peer:        g.Peer,
		Counters:    &counts.Counters,
	}
	if g.Peer {
		access.Limits = r.peerLimits()
	}
	err = s.Run(ctx, r.cluster.Restrict(access, e.id, setup.Hop))
	log.Info("connection closed", "err", err, "dur", time.Since(e.started).Round(time.Millisecond))
}
