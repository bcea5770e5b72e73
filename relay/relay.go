package relay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moqmesh/moqmesh/internal/certs"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
	"github.com/moqmesh/moqmesh/relay/auth"
	"github.com/moqmesh/moqmesh/relay/conf"
)

// Options are what a relay gets from its program.
type Options struct {
	// Log receives everything; nil discards it.
	Log *slog.Logger
	// Level, if not nil, follows log.level on a reload.
	Level *slog.LevelVar
}

// Relay is one relay. Make it with New.
type Relay struct {
	cfg      atomic.Pointer[conf.Relay]
	log      *slog.Logger
	level    *slog.LevelVar
	versions []lite.Version

	origin   *moq.Origin
	cache    *moq.Cache
	certs    *certs.Store // nil without a QUIC listener
	webCerts *certs.Store // nil without web.https
	dials    *certs.Client
	auth     atomic.Pointer[auth.Authorizer]
	sessions *registry
	tiers    *tiers
	refusals *refusals

	quic     *transport.Listener
	web      []*webListener
	internal *webListener
	handlers sync.WaitGroup // HTTP handlers that hold a session
	draining atomic.Bool
	ready    atomic.Bool

	reloading sync.Mutex // held over each Reload
}

// webListener is an HTTP server and its socket.
type webListener struct {
	name string
	ln   *patientListener
	srv  *http.Server
	tls  *certs.Store // nil: plain
}

// New checks cfg and prepares a relay; it reads key files but opens no socket.
func New(cfg conf.Relay, opts Options) (*Relay, error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if missing := conf.NotYet(cfg); len(missing) > 0 {
		return nil, missing
	}
	r := &Relay{log: opts.Log, level: opts.Level, versions: versions(cfg.Listen.Version)}
	r.cfg.Store(&cfg)
	id := session.RandomID()
	if cfg.Cluster.ID != nil {
		id = *cfg.Cluster.ID
	}
	r.cache = moq.NewCache(0)
	r.origin = moq.NewOrigin(id, r.cache)
	r.sessions = newRegistry(r)
	r.tiers = newTiers()
	r.refusals = newRefusals()
	var errs []error
	errs = append(errs, r.makeCerts(cfg), r.setAuth(cfg))
	return r, errors.Join(errs...)
}

// versions are those that a listener offers.
func versions(names []conf.Version) []lite.Version {
	if len(names) == 0 {
		return transport.Finished
	}
	var vs []lite.Version
	for _, name := range names {
		if v, err := lite.ParseVersion(string(name)); err == nil {
			vs = append(vs, v)
		}
	}
	return vs
}

func (r *Relay) makeCerts(cfg conf.Relay) (err error) {
	var errs []error
	if cfg.Listen.Bind != "" {
		r.certs, err = certs.New(certs.Config{
			Certs: cfg.Listen.TLS.Cert, Keys: cfg.Listen.TLS.Key,
			Generate: cfg.Listen.TLS.Generate, Roots: cfg.Listen.TLS.Root, Log: r.log,
		})
		errs = append(errs, err)
	}
	if cfg.Web.HTTPS.Listen != "" {
		r.webCerts, err = certs.New(certs.Config{
			Certs: cfg.Web.HTTPS.Cert, Keys: cfg.Web.HTTPS.Key, Roots: cfg.Web.HTTPS.Root, Web: true, Log: r.log,
		})
		errs = append(errs, err)
	}
	t := cfg.Connect.TLS
	r.dials, err = certs.NewClient(certs.ClientConfig{
		Roots: t.Root, SystemRoots: t.SystemRoots, Fingerprints: t.Fingerprint,
		Cert: t.Cert, Key: t.Key, Insecure: t.Insecure, HostName: t.HostName, Log: r.log,
	})
	return errors.Join(append(errs, err)...)
}

// setAuth builds the authoriser of a configuration and puts it in force.
func (r *Relay) setAuth(cfg conf.Relay) error {
	a := auth.Config{
		Key: cfg.Auth.Key, KeyDir: cfg.Auth.KeyDir, RequireExp: cfg.Auth.RequireExp,
		Public: cfg.Auth.Public, PublicPublish: cfg.Auth.PublicPublish, PublicSubscribe: cfg.Auth.PublicSubscribe,
		API: cfg.Auth.API, Domains: cfg.Auth.Domains, MTLSTier: cfg.Auth.MTLSTier,
		ClientRoots: len(cfg.Listen.TLS.Root) > 0 || len(cfg.Web.HTTPS.Root) > 0,
		Scopes:      cfg.Listen.TLS.Scopes,
		Log:         r.log, OnRefusal: r.refusals.add,
	}
	if r.dials != nil {
		a.Client = r.dials.HTTPClient()
	}
	for _, p := range cfg.Cluster.InternalPeers {
		a.InternalPeers = append(a.InternalPeers, p.Prefix)
	}
	made, err := auth.New(a)
	if err != nil {
		return err
	}
	r.auth.Store(made)
	return nil
}

// Origin is the relay's name space.
func (r *Relay) Origin() *moq.Origin { return r.origin }

// Listen reads the certificates and opens all sockets, or none.
func (r *Relay) Listen(ctx context.Context) error {
	if err := r.listen(ctx); err != nil {
		r.closeSockets()
		return err
	}
	return nil
}

func (r *Relay) listen(ctx context.Context) error {
	cfg := r.cfg.Load()
	for _, store := range []*certs.Store{r.certs, r.webCerts} {
		if store == nil {
			continue
		}
		if err := store.Load(ctx); err != nil {
			return err
		}
	}
	if err := r.dials.Load(ctx); err != nil {
		return err
	}
	if err := r.listenQUIC(cfg); err != nil {
		return err
	}
	return r.listenWeb(cfg)
}

func (r *Relay) listenQUIC(cfg *conf.Relay) error {
	if cfg.Listen.Bind == "" {
		return nil
	}
	pc, err := net.ListenPacket("udp", string(cfg.Listen.Bind))
	if err != nil {
		return fmt.Errorf("listen.bind: %w", err)
	}
	r.quic, err = transport.Listen(pc, transport.ListenConfig{
		ALPNs: transport.ALPNs(r.versions), TLS: r.certs.TLS(), QUIC: quicConfig(cfg.QUIC),
		Handshake: handshakeTime(cfg.Listen.Timeout), Refuse: r.sessions.refuse, Log: r.log,
	})
	if err != nil {
		return err
	}
	r.log.Info("listening", "addr", r.quic.Addr().String(), "kind", "quic")
	return nil
}

func (r *Relay) listenWeb(cfg *conf.Relay) error {
	public := r.publicHandler()
	for _, l := range []struct {
		name, addr string
		tls        *certs.Store
		handler    http.Handler
	}{
		{"http", string(cfg.Web.HTTP.Listen), nil, public},
		{"https", string(cfg.Web.HTTPS.Listen), r.webCerts, public},
		{"internal", string(cfg.Internal.Listen), nil, r.internalHandler()},
	} {
		if l.addr == "" {
			continue
		}
		w, err := listenHTTP(l.name, l.addr, l.tls, l.handler, cfg.Listen.Timeout, r.log)
		if err != nil {
			return err
		}
		if l.name == "internal" {
			r.internal = w
		} else {
			r.web = append(r.web, w)
		}
		r.log.Info("listening", "addr", w.ln.Addr().String(), "kind", l.name)
	}
	return nil
}

// handshakeTime says "none" as a time that nobody waits for: the listener reads
// zero as its default.
func handshakeTime(d time.Duration) time.Duration {
	if d == 0 {
		return 24 * time.Hour
	}
	return d
}

func (r *Relay) closeSockets() {
	if r.quic != nil {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		r.quic.Serve(ctx, nil)
	}
	for _, w := range append(r.web, r.internal) {
		if w != nil {
			w.ln.Close()
		}
	}
}

// Addrs are the addresses that Listen opened, by kind: quic, http, https, internal.
func (r *Relay) Addrs() map[string]net.Addr {
	addrs := make(map[string]net.Addr)
	if r.quic != nil {
		addrs["quic"] = r.quic.Addr()
	}
	for _, w := range append(r.web, r.internal) {
		if w != nil {
			addrs[w.name] = w.ln.Addr()
		}
	}
	return addrs
}

// Run serves until ctx ends, then drains: the sessions are asked to leave and
// have until drain_timeout. When kill ends everything closes at once.
func (r *Relay) Run(ctx, kill context.Context) error {
	r.ready.Store(true) // Listen has opened everything: whoever comes is served
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var wg sync.WaitGroup
	failed := make(chan error, 8)
	spawn := func(what string, f func(context.Context) error) {
		wg.Go(func() {
			if err := f(serving); err != nil && serving.Err() == nil {
				failed <- fmt.Errorf("%s: %w", what, err)
			}
		})
	}
	if r.quic != nil {
		spawn("quic", func(ctx context.Context) error { return r.quic.Serve(ctx, r.serveIncoming) })
		spawn("certificates", r.certs.Run)
	}
	if r.webCerts != nil {
		spawn("web certificates", r.webCerts.Run)
	}
	spawn("client certificates", r.dials.Run)
	spawn("cache", r.keepCache)
	spawn("routes", func(ctx context.Context) error { session.Keep(ctx, r.origin); return nil })
	for _, w := range append(r.web, r.internal) {
		if w != nil {
			spawn(w.name, w.serve)
		}
	}
	r.log.Info("cluster initialized", "hop_id", r.origin.ID(), "configured", r.cfg.Load().Cluster.ID != nil)
	r.log.Info("no cluster peers configured; running standalone")
	var err error
	select {
	case <-ctx.Done():
		r.drain(kill)
	case err = <-failed:
	}
	r.ready.Store(false)
	r.sessions.closeAll(session.CodeNoError, "relay is shutting down")
	stop()
	wg.Wait()
	r.handlers.Wait() // last: nothing accepts any more
	return err
}

// Ready says whether the relay takes sessions and is not draining.
func (r *Relay) Ready() bool { return r.ready.Load() && !r.draining.Load() }

// Reload applies what can change while running, all of it or nothing, and logs
// what waits for a restart. Sessions that are open stay.
func (r *Relay) Reload(next conf.Relay) error {
	r.reloading.Lock()
	defer r.reloading.Unlock()
	running := *r.cfg.Load()
	applied := running
	applied.Auth, applied.Limits, applied.Cache = next.Auth, next.Limits, next.Cache
	applied.Log.Level = next.Log.Level
	if err := r.setAuth(applied); err != nil {
		return fmt.Errorf("reload: %w", err)
	}
	r.cfg.Store(&applied)
	if r.level != nil {
		r.level.Set(slogLevel(applied.Log.Level))
	}
	for _, c := range conf.Changes(running, applied) {
		r.log.Info("configuration changed", "key", c.Key)
	}
	for _, c := range conf.Changes(applied, next) {
		r.log.Warn("configuration change needs a restart", "key", c.Key)
	}
	return nil
}
