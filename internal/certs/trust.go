package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"

	"github.com/moqmesh/moqmesh/internal/source"
	"golang.org/x/sync/errgroup"
)

// trust is what one configuration of dials names.
type trust struct {
	cfg   ClientConfig
	pins  pins                             // empty = check the chain
	roots *source.Source[*x509.CertPool]   // nil = the system's
	pair  *source.Source[*tls.Certificate] // nil = present none
}

// newTrust checks cfg, all of it, and returns what it names, with nothing read.
func newTrust(cfg ClientConfig) (*trust, error) {
	t := &trust{cfg: cfg}
	var pinErr error
	t.pins, pinErr = parsePins(cfg.Fingerprints)
	if err := errors.Join(cfg.conflicts(), pinErr); err != nil {
		return nil, err
	}
	if err := t.openRoots(); err != nil {
		return nil, err
	}
	if err := t.openPair(); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *trust) openRoots() (err error) {
	if len(t.cfg.Roots) == 0 {
		return nil
	}
	base := noRoots
	if t.cfg.SystemRoots != nil && *t.cfg.SystemRoots {
		base = x509.SystemCertPool
	}
	t.roots, err = newRoots(t.cfg.Roots, base, t.cfg.Log, t.cfg.Period)
	return err
}

func (t *trust) openPair() (err error) {
	if t.cfg.Cert == "" {
		return nil
	}
	const failed = "failed to reload client certificate"
	t.pair, err = source.New(source.Config[*tls.Certificate]{
		Locations: []string{t.cfg.Cert, t.cfg.Key},
		Parse:     func(docs [][]byte) (*tls.Certificate, error) { return parsePair(docs[0], docs[1]) },
		Period:    t.cfg.Period,
		Log:       t.cfg.Log,
		Lines: source.Lines{
			Reloading: "reloading client certificate", Reloaded: "client certificate reloaded",
			Unreadable: failed, Refused: failed, Unwatched: unwatched,
		},
	})
	return err
}

// warn says what is dangerous about it.
func (t *trust) warn() {
	if t.cfg.Insecure {
		t.cfg.Log.Warn("TLS verification is off: dials are open to a man in the middle")
	}
}

// load reads the files now.
func (t *trust) load(ctx context.Context) error {
	var errs []error
	if t.roots != nil {
		errs = append(errs, t.roots.Load(ctx))
	}
	if t.pair != nil {
		errs = append(errs, t.pair.Load(ctx))
	}
	return errors.Join(errs...)
}

// run follows the files until ctx ends and returns its cause.
func (t *trust) run(ctx context.Context) error {
	var g errgroup.Group
	if t.roots != nil {
		g.Go(func() error { return t.roots.Run(ctx) })
	}
	if t.pair != nil {
		g.Go(func() error { return t.pair.Run(ctx) })
	}
	<-ctx.Done()
	_ = g.Wait() // they end with ctx alone
	return context.Cause(ctx)
}

// tls is the configuration of one dial.
func (t *trust) tls(protos []string) *tls.Config {
	cfg := &tls.Config{ServerName: t.cfg.HostName, NextProtos: protos, MinVersion: tls.VersionTLS12}
	switch {
	case t.cfg.Insecure:
		cfg.InsecureSkipVerify = true
	case len(t.pins) > 0:
		cfg.InsecureSkipVerify = true // the pins decide instead
		cfg.VerifyConnection = t.pins.verify
	case t.roots != nil:
		cfg.RootCAs = current(t.roots)
	}
	if t.pair != nil {
		cfg.GetClientCertificate = t.certificate
	}
	return cfg
}

func (t *trust) certificate(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	if pair := t.pair.Get(); pair != nil {
		return pair, nil
	}
	return nil, errors.New("client certificate not loaded")
}
