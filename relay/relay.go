package relay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/moqmesh/moqmesh/cluster"
	"github.com/moqmesh/moqmesh/cluster/route"
	"github.com/moqmesh/moqmesh/internal/certs"
	"github.com/moqmesh/moqmesh/internal/proc"
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
	memory   func() (proc.Memory, error) // what the cache is fitted to
	certs    *certs.Store                // nil without a QUIC listener
	webCerts *certs.Store                // nil without web.https
	dials    *certs.Client
	auth     atomic.Pointer[auth.Authorizer]
	sessions *registry
	tiers    *tiers
	refusals *refusals
	arrivals *arrivals

	cluster      *cluster.Cluster
	clusterToken string // "" = none
	links        cluster.Counters

	quic     *transport.Listener
	web      []*webListener
	internal *webListener
	handlers sync.WaitGroup // HTTP handlers that hold a session
	draining atomic.Bool
	ready    atomic.Bool

	reloading sync.Mutex // held over each Reload
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
	r.cache, r.memory = moq.NewCache(0), proc.ReadMemory
	r.origin = moq.NewRoutedOrigin(route.Config{Self: id, MaxHops: cfg.Cluster.MaxHops, Linger: cfg.Cluster.Linger}, r.cache)
	r.sessions = newRegistry(r)
	r.tiers = newTiers()
	r.refusals = newRefusals()
	r.arrivals = newArrivals(cfg)
	if err := r.makeCerts(cfg); err != nil {
		return nil, err
	}
	err := r.makeCluster(cfg)
	authorizer, authErr := r.newAuth(cfg)
	r.auth.Store(authorizer)
	return r, errors.Join(err, authErr)
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

// Origin is the relay's name space.
func (r *Relay) Origin() *moq.Origin { return r.origin }

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
		spawn("arrivals", func(ctx context.Context) error { return r.arrivals.watch(ctx, r.log, r.quic.Addr().String()) })
	}
	if r.webCerts != nil {
		spawn("web certificates", r.webCerts.Run)
	}
	spawn("client certificates", r.dials.Run)
	spawn("cache", r.keepCache)
	spawn("routes", func(ctx context.Context) error { session.Keep(ctx, r.origin); return nil })
	for _, w := range r.http() {
		spawn(w.name, w.serve)
	}
	r.log.Info("cluster initialized", "hop_id", r.origin.ID(), "configured", r.cfg.Load().Cluster.ID != nil)
	spawn("cluster", r.cluster.Run)
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
