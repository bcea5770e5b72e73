package certs

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moqmesh/moqmesh/internal/source"
	"golang.org/x/sync/errgroup"
)

// Config says which certificates a listener presents and which authorities it asks of clients.
type Config struct {
	// Certs and Keys are PEM files, paired by position. Each certificate file holds its chain, leaf first.
	Certs, Keys []string
	// Generate lists DNS names and IP addresses for a self-signed certificate that comes after those from files. Empty
	// means none.
	Generate []string
	// Roots are PEM files of authorities for client certificates. A client may then present a certificate; one that does
	// not verify fails its handshake. Empty means that clients are not asked.
	Roots []string
	// Web picks the log lines of an HTTPS listener instead of those of a QUIC listener.
	Web bool
	// Period is the time between two checks of the files besides notifications. Zero means 30 s.
	Period time.Duration
	// Log receives what an operator acts on. Nil discards it.
	Log *slog.Logger
}

// Store holds the certificates of one listener. All methods may be called at the same time.
type Store struct {
	log       *slog.Logger
	pairs     *source.Source[[]*tls.Certificate] // nil without files
	roots     *source.Source[*x509.CertPool]     // nil without roots
	hosts     []string
	renewing  sync.Mutex                // serialises changes of own
	own       atomic.Pointer[generated] // nil until Load, and without hosts
	unmatched atomic.Uint64
}

// New checks cfg and returns a store that has read and generated nothing yet.
func New(cfg Config) (*Store, error) {
	s := &Store{log: cmp.Or(cfg.Log, slog.New(slog.DiscardHandler)), hosts: cfg.Generate}
	locations, err := pairLocations(cfg.Certs, cfg.Keys)
	if err != nil {
		return nil, err
	}
	if len(locations) == 0 && len(cfg.Generate) == 0 {
		return nil, errors.New("neither certificate files nor hosts to generate a certificate for")
	}
	if len(locations) > 0 {
		if s.pairs, err = newPairs(locations, cfg.Web, s.log, cfg.Period); err != nil {
			return nil, err
		}
	}
	if len(cfg.Roots) > 0 {
		if s.roots, err = newRoots(cfg.Roots, noRoots, s.log, cfg.Period); err != nil {
			return nil, err
		}
	}
	return s, nil
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

// Load reads all files now and generates the self-signed certificate if there is none yet. At a start its error is a
// reason to stop; later it means that the set in use stays.
func (s *Store) Load(ctx context.Context) error {
	var errs []error
	if s.pairs != nil {
		errs = append(errs, s.pairs.Load(ctx))
	}
	if s.roots != nil {
		errs = append(errs, s.roots.Load(ctx))
	}
	return errors.Join(append(errs, s.advance(time.Now()))...)
}

// Run follows the files and renews the generated certificate until ctx ends, and returns its cause. Run it once, after
// Load.
func (s *Store) Run(ctx context.Context) error {
	var g errgroup.Group
	if s.pairs != nil {
		g.Go(func() error { return s.pairs.Run(ctx) })
	}
	if s.roots != nil {
		g.Go(func() error { return s.roots.Run(ctx) })
	}
	g.Go(func() error { return s.renew(ctx) })
	return g.Wait()
}

// renew waits in steps of an hour at most: timers stand still while a machine sleeps, certificates do not.
func (s *Store) renew(ctx context.Context) error {
	for {
		wait := time.Hour
		if own := s.own.Load(); own != nil {
			wait = min(max(time.Until(own.next()), time.Second), time.Hour)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
		if err := s.advance(time.Now()); err != nil {
			s.log.Error("failed to renew the generated certificate", "err", err)
		}
	}
}

// advance brings the generated certificates to now.
func (s *Store) advance(now time.Time) error {
	if len(s.hosts) == 0 {
		return nil
	}
	s.renewing.Lock()
	defer s.renewing.Unlock()
	own := generated{hosts: s.hosts}
	if old := s.own.Load(); old != nil {
		own = *old
	}
	next, renewed, err := own.advance(now)
	if err != nil {
		return err
	}
	s.own.Store(&next)
	if renewed {
		leaf := next.certs[0].Leaf
		s.log.Info("certificate generated", "sha256", Fingerprint(leaf.Raw), "until", leaf.NotAfter)
	}
	return nil
}

// serving returns the certificates that answer handshakes, in configuration order.
func (s *Store) serving() []*tls.Certificate {
	var all []*tls.Certificate
	if s.pairs != nil {
		all = s.pairs.Get()
	}
	if own := s.own.Load(); own != nil {
		all = append(all[:len(all):len(all)], own.certs[0])
	}
	return all
}

// GetCertificate answers a handshake: the first certificate whose names match the server name that the client asks for,
// the first of all otherwise. It is made for tls.Config.
func (s *Store) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	cert, matched := pick(s.serving(), hello.ServerName)
	if cert == nil {
		return nil, errors.New("no certificate loaded")
	}
	if !matched {
		s.unmatched.Add(1)
		s.log.Debug("no SNI certificate found", "name", hello.ServerName[:min(len(hello.ServerName), 255)])
	}
	return cert, nil
}

// Unmatched counts the handshakes that got the first certificate because none had their name, or because they had no
// name to match.
func (s *Store) Unmatched() uint64 { return s.unmatched.Load() }

// TLS returns a configuration for listeners, QUIC and HTTPS alike, that always uses the current certificates and roots.
// protos are the ALPN names in order of preference. With roots, sessions are not resumed: a resumed one would outlive
// the authority that vouched for it.
func (s *Store) TLS(protos ...string) *tls.Config {
	cfg := &tls.Config{GetCertificate: s.GetCertificate, NextProtos: protos, MinVersion: tls.VersionTLS12}
	if s.roots == nil {
		return cfg
	}
	cfg.ClientAuth = tls.VerifyClientCertIfGiven
	cfg.ClientCAs = current(s.roots)
	cfg.SessionTicketsDisabled = true
	base := cfg.Clone()
	cfg.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		now := base.Clone()
		now.ClientCAs = current(s.roots)
		return now, nil
	}
	return cfg
}
