package certs

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

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
	offer     *replaceable[*offer]
	renewing  sync.Mutex // held over changes of the generated certificates
	unmatched atomic.Uint64
}

// New checks cfg and returns a store that has read and generated nothing yet.
func New(cfg Config) (*Store, error) {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	first, err := newOffer(cfg)
	if err != nil {
		return nil, err
	}
	return &Store{log: cfg.Log, offer: newReplaceable(first)}, nil
}

// Load reads all files now and generates the self-signed certificate if there is none yet. At a start its error is a
// reason to stop; later it means that the set in use stays.
func (s *Store) Load(ctx context.Context) error {
	return errors.Join(s.offer.get().load(ctx), s.advance(time.Now()))
}

// Prepare reads what cfg names beside what is in use. commit puts it in force, for all later handshakes; without a
// call of it nothing has changed. A generated certificate is kept where the hosts are the same; for others a new one
// answers, and the old one is listed until it ends. Prepare the next configuration after this one is settled.
func (s *Store) Prepare(ctx context.Context, cfg Config) (commit func(), err error) {
	cfg.Log = s.log
	next, err := newOffer(cfg)
	if err != nil {
		return nil, err
	}
	var made *x509.Certificate
	if !slices.Equal(next.hosts, s.offer.get().hosts) {
		made, err = next.advance(time.Now())
	}
	if err := errors.Join(next.load(ctx), err); err != nil {
		return nil, err
	}
	return func() {
		s.renewing.Lock()
		defer s.renewing.Unlock()
		next.inherit(s.offer.get())
		s.offer.put(next)
		s.logGenerated(made)
	}, nil
}

// Run follows the files and renews the generated certificate until ctx ends, and returns its cause. Run it once, after
// Load.
func (s *Store) Run(ctx context.Context) error {
	var g errgroup.Group
	g.Go(func() error { return s.offer.run(ctx) })
	g.Go(func() error { return s.renew(ctx) })
	return g.Wait()
}

// renew waits in steps of an hour at most: timers stand still while a machine sleeps, certificates do not.
func (s *Store) renew(ctx context.Context) error {
	for {
		wait := time.Hour
		if own := s.offer.get().own.Load(); own != nil {
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
	s.renewing.Lock()
	defer s.renewing.Unlock()
	made, err := s.offer.get().advance(now)
	s.logGenerated(made)
	return err
}

func (s *Store) logGenerated(leaf *x509.Certificate) {
	if leaf != nil {
		s.log.Info("certificate generated", "sha256", Fingerprint(leaf.Raw), "until", leaf.NotAfter)
	}
}

// GetCertificate answers a handshake: the first certificate whose names match the server name that the client asks for,
// the first of all otherwise. It is made for tls.Config.
func (s *Store) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	cert, matched := pick(s.offer.get().serving(), hello.ServerName)
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
	plain := &tls.Config{GetCertificate: s.GetCertificate, NextProtos: protos, MinVersion: tls.VersionTLS12}
	asking := plain.Clone()
	asking.ClientAuth = tls.VerifyClientCertIfGiven
	asking.SessionTicketsDisabled = true
	plain.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		roots := s.offer.get().roots
		if roots == nil {
			return nil, nil // plain itself
		}
		now := asking.Clone()
		now.ClientCAs = current(roots)
		return now, nil
	}
	return plain
}
