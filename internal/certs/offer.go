package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/moqmesh/moqmesh/internal/source"
	"golang.org/x/sync/errgroup"
)

// offer is what one configuration of a listener names.
type offer struct {
	pairs *source.Source[[]*tls.Certificate] // nil without files
	roots *source.Source[*x509.CertPool]     // nil without roots
	hosts []string                           // to generate a certificate for
	own   atomic.Pointer[generated]          // nil until it is first advanced, and without hosts
}

// newOffer checks cfg and returns what it names, with nothing read or generated.
func newOffer(cfg Config) (*offer, error) {
	o := &offer{hosts: cfg.Generate}
	locations, err := pairLocations(cfg.Certs, cfg.Keys)
	if err != nil {
		return nil, err
	}
	if len(locations) == 0 && len(cfg.Generate) == 0 {
		return nil, errors.New("neither certificate files nor hosts to generate a certificate for")
	}
	if len(locations) > 0 {
		if o.pairs, err = newPairs(locations, cfg.Web, cfg.Log, cfg.Period); err != nil {
			return nil, err
		}
	}
	if len(cfg.Roots) > 0 {
		if o.roots, err = newRoots(cfg.Roots, noRoots, cfg.Log, cfg.Period); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func newPairs(locations []string, web bool, log *slog.Logger, period time.Duration) (*source.Source[[]*tls.Certificate], error) {
	reloading, failed := "reloading server certificates", "failed to reload server certificates"
	if web {
		reloading, failed = "reloading web certificate", "failed to reload web certificate"
	}
	return source.New(source.Config[[]*tls.Certificate]{
		Locations: locations,
		Parse:     func(docs [][]byte) ([]*tls.Certificate, error) { return parsePairs(locations, docs) },
		Period:    period,
		Log:       log,
		Lines: source.Lines{
			Reloading: reloading, Reloaded: "certificates reloaded",
			Unreadable: failed, Refused: failed, Unwatched: unwatched,
		},
	})
}

// load reads the files now.
func (o *offer) load(ctx context.Context) error {
	var errs []error
	if o.pairs != nil {
		errs = append(errs, o.pairs.Load(ctx))
	}
	if o.roots != nil {
		errs = append(errs, o.roots.Load(ctx))
	}
	return errors.Join(errs...)
}

// run follows the files until ctx ends, and returns its cause.
func (o *offer) run(ctx context.Context) error {
	var g errgroup.Group
	if o.pairs != nil {
		g.Go(func() error { return o.pairs.Run(ctx) })
	}
	if o.roots != nil {
		g.Go(func() error { return o.roots.Run(ctx) })
	}
	<-ctx.Done()
	_ = g.Wait() // they end with ctx alone
	return context.Cause(ctx)
}

// advance brings the generated certificates to now. made is the one that is new. One call at a time.
func (o *offer) advance(now time.Time) (made *x509.Certificate, err error) {
	if len(o.hosts) == 0 {
		return nil, nil
	}
	own := generated{hosts: o.hosts}
	if old := o.own.Load(); old != nil {
		own = *old
	}
	next, renewed, err := own.advance(now)
	if err != nil {
		return nil, err
	}
	o.own.Store(&next)
	if renewed {
		made = next.certs[0].Leaf
	}
	return made, nil
}

// inherit takes over what old has generated: for the same hosts all of it, else what is to be listed until it ends.
func (o *offer) inherit(old *offer) {
	was := old.own.Load()
	switch {
	case was == nil || len(o.hosts) == 0:
	case slices.Equal(o.hosts, old.hosts):
		o.own.Store(was)
	default:
		own := *o.own.Load()
		own.certs = append(own.certs[:1:1], was.certs...)
		o.own.Store(&own)
	}
}

// serving returns the certificates that answer handshakes, in configuration order.
func (o *offer) serving() []*tls.Certificate {
	var all []*tls.Certificate
	if o.pairs != nil {
		all = o.pairs.Get()
	}
	if own := o.own.Load(); own != nil {
		all = append(all[:len(all):len(all)], own.certs[0])
	}
	return all
}

// retired returns the generated certificates that answer no handshake any more and have not ended, newest first.
func (o *offer) retired() []*tls.Certificate {
	if own := o.own.Load(); own != nil {
		return own.certs[1:]
	}
	return nil
}
