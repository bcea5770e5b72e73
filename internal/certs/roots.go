package certs

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/moqmesh/moqmesh/internal/source"
)

const unwatched = "failed to watch certificate files; polling instead"

// newRoots reads authorities from PEM files, on top of the system's own where base asks for them.
func newRoots(locations []string, base func() (*x509.CertPool, error), log *slog.Logger, period time.Duration) (*source.Source[*x509.CertPool], error) {
	const failed = "failed to reload TLS root certificates; retaining previous roots"
	return source.New(source.Config[*x509.CertPool]{
		Locations: locations,
		Parse:     func(docs [][]byte) (*x509.CertPool, error) { return parseRoots(base, locations, docs) },
		Period:    period,
		Log:       log,
		Lines: source.Lines{
			Reloaded:   "reloaded TLS root certificates",
			Unreadable: failed, Refused: failed, Unwatched: unwatched,
		},
	})
}

func parseRoots(base func() (*x509.CertPool, error), locations []string, docs [][]byte) (*x509.CertPool, error) {
	pool, err := base()
	if err != nil {
		return nil, fmt.Errorf("system roots: %w", err)
	}
	for i, doc := range docs {
		if err := addRoots(pool, doc); err != nil {
			return nil, fmt.Errorf("roots %s: %w", locations[i], err)
		}
	}
	return pool, nil
}

// addRoots is stricter than CertPool.AppendCertsFromPEM, which passes over what it cannot read: an authority missing
// after half a write would refuse its clients without a word.
func addRoots(pool *x509.CertPool, doc []byte) error {
	found := false
	for block, rest := pem.Decode(doc); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return err
		}
		pool.AddCert(cert)
		found = true
	}
	if !found {
		return errors.New("no certificate in PEM form")
	}
	return nil
}

// noRoots is the base of a pool that trusts only what files name.
func noRoots() (*x509.CertPool, error) { return x509.NewCertPool(), nil }

// current never returns nil: to crypto/tls a nil pool means the system's roots, who were not asked for.
func current(roots *source.Source[*x509.CertPool]) *x509.CertPool {
	if pool := roots.Get(); pool != nil {
		return pool
	}
	return x509.NewCertPool()
}
