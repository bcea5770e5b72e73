package auth

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/moqmesh/moqmesh/token"
)

// certificateName is the name by which scopes and logs know a certificate.
func certificateName(leaf *x509.Certificate) string {
	switch {
	case len(leaf.DNSNames) > 0:
		return leaf.DNSNames[0]
	case leaf.Subject.CommonName != "":
		return leaf.Subject.CommonName
	}
	sum := sha256.Sum256(leaf.Raw)
	return hex.EncodeToString(sum[:])
}

func (c Config) certificateScopes() (scopes map[string]token.Scope, errs []error) {
	scopes = make(map[string]token.Scope)
	for _, name := range slices.Sorted(maps.Keys(c.Scopes)) {
		patterns, err := token.ParsePatterns(c.Scopes[name])
		if err != nil {
			errs = append(errs, fmt.Errorf("listen.tls.scopes: %s: %w", name, err))
			continue
		}
		scopes[name] = token.Scope{Publish: patterns, Subscribe: patterns}
	}
	return scopes, errs
}

// certified grants what the certificate's scope allows at path: everything,
// unless it is narrowed.
func (a *Authorizer) certified(now time.Time, leaf *x509.Certificate, path string) (Grant, error) {
	name := certificateName(leaf)
	if !now.Before(leaf.NotAfter) {
		return Grant{}, refuse(CodeCertificate, "certificate %q ended at %s", name, leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	scope, narrowed := a.rules.scopes[name]
	if !narrowed {
		scope = everything
	}
	g, err := grantAt(scope, path, "certificate "+name)
	if err != nil {
		return Grant{}, err
	}
	g.Peer = true
	g.Expires = leaf.NotAfter
	return g, nil
}
