package auth

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/moqmesh/moqmesh/token"
)

// Config says how connections are judged. It is not changed after New.
type Config struct {
	// Key is a file or an http(s) URL of one JWK or a JWKS that verifies tokens.
	Key string
	// KeyDir is a directory, or an http(s) URL of one, that holds {kid}.jwk
	// for each kid. It excludes Key.
	KeyDir string
	// RequireExp refuses tokens that never expire.
	RequireExp bool

	// Public lists what everybody may publish and subscribe to: patterns
	// ("anon/**") or paths of the older spelling ("anon" reads as anon/**, ""
	// as **), which are noted.
	Public []string
	// PublicPublish and PublicSubscribe are the same for one direction. They
	// are patterns only and need a wildcard.
	PublicPublish, PublicSubscribe []string

	// API is an http(s) URL that is asked about each connection. It excludes
	// Key, KeyDir and the public rules.
	API string

	// Domains are host names. The labels in front of one in the server name,
	// reversed, are put before the dialled path.
	Domains []string

	// ClientRoots says that client certificates are asked for and verified. A
	// verified one is a peer with full access below the path that it dials.
	ClientRoots bool
	// Scopes narrows certificates by name (first DNS name, else common name,
	// else SHA-256 of the certificate in hex) to absolute patterns for both
	// directions. A certificate without an entry is not narrowed.
	Scopes map[string][]string
	// MTLSTier is the tier of sessions with a certificate, unless the API names one.
	MTLSTier string

	// InternalPeers are addresses whose sessions are peers with full access
	// and no credential.
	InternalPeers []netip.Prefix
	// ClusterToken is our own cluster token; who presents the same is a peer.
	// Its rights are those that verification gives it. Empty = none.
	ClusterToken string

	// Client makes the requests to API and to key URLs. Nil means a client
	// with system roots and no certificate.
	Client *http.Client
	// Log receives notes and failures of key sources. Nil discards them.
	Log *slog.Logger
	// OnRefusal is told the code of each refusal, one of Codes. Nil = nobody.
	OnRefusal func(code string)
}

// Check returns lines that the operator should read, and every reason why the
// configuration cannot be used, joined. It reads no file and asks no server.
func (c Config) Check() (notes []string, err error) {
	_, notes, err = c.parse()
	return notes, err
}

// rules is what the text of a Config comes to.
type rules struct {
	public token.Scope
	scopes map[string]token.Scope
}

func (c Config) parse() (r rules, notes []string, err error) {
	public, notes, errs := c.publicScope()
	r.public = public
	var scopeErrs []error
	r.scopes, scopeErrs = c.certificateScopes()
	errs = append(errs, scopeErrs...)
	errs = append(errs, c.conflicts()...)
	for _, d := range c.Domains {
		if canonicalHost(d) == "" || strings.ContainsAny(d, "/:* ") {
			errs = append(errs, fmt.Errorf("auth.domains: %q is not a host name", d))
		}
	}
	if isURL(c.KeyDir) {
		notes = append(notes, "auth.key_dir as a URL is deprecated: put the keys into a set and name it in auth.key")
	}
	for _, p := range c.InternalPeers {
		if addr := p.Addr(); !addr.IsPrivate() && !addr.IsLoopback() && !addr.IsLinkLocalUnicast() {
			notes = append(notes, fmt.Sprintf("cluster.internal_peers: %s is not a private address; whoever can send from there has full access", p))
		}
	}
	if !c.judges() && c.ClientRoots {
		notes = append(notes, "no JWT/public auth configured; only mTLS peers will be accepted")
	}
	return r, notes, errors.Join(errs...)
}

// judges reports whether anybody without a certificate could be admitted.
func (c Config) judges() bool {
	return c.Key != "" || c.KeyDir != "" || c.API != "" || c.hasPublic() || len(c.InternalPeers) > 0
}

func (c Config) hasPublic() bool {
	return len(c.Public)+len(c.PublicPublish)+len(c.PublicSubscribe) > 0
}

func (c Config) conflicts() (errs []error) {
	fail := func(bad bool, text string) {
		if bad {
			errs = append(errs, errors.New(text))
		}
	}
	fail(c.Key != "" && c.KeyDir != "", "auth.key and auth.key_dir exclude each other")
	fail(c.API != "" && (c.Key != "" || c.KeyDir != ""), "auth.auth_api excludes auth.key and auth.key_dir")
	fail(c.API != "" && c.hasPublic(), "auth.auth_api excludes public rules")
	fail(c.API != "" && !isURL(c.API), "auth.auth_api is not an http or https URL")
	fail(!c.judges() && !c.ClientRoots,
		"nobody could connect: set auth.key, auth.key_dir, auth.auth_api or public rules, or accept client certificates")
	return errs
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
