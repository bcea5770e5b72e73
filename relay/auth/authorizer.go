package auth

import (
	"cmp"
	"context"
	"crypto/subtle"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/moqmesh/moqmesh/token"
)

// Authorizer admits sessions by the rules of one Config. Its methods may be
// called concurrently.
type Authorizer struct {
	cfg     Config
	rules   rules
	domains []string
	keys    keySource // nil = none configured
	api     *api      // nil = none configured
}

// New checks cfg as [Config.Check] does, logs its notes and reads local keys
// once, so that a missing or broken file stops the start.
func New(cfg Config) (*Authorizer, error) {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	cfg.Client = cmp.Or(cfg.Client, http.DefaultClient)
	parsed, notes, err := cfg.parse()
	if err != nil {
		return nil, err
	}
	for _, note := range notes {
		cfg.Log.Warn("auth configuration", "note", note)
	}
	a := &Authorizer{cfg: cfg, rules: parsed, domains: sortDomains(cfg.Domains)}
	if cfg.API != "" {
		a.api = newAPI(cfg.API, cfg.Client)
	}
	if a.keys, err = openKeys(cfg); err != nil {
		return nil, err
	}
	return a, nil
}

// Authorize decides about one connection. It may wait for a key address or the
// auth API, ten seconds at most. A refusal is an error of type *Refusal.
func (a *Authorizer) Authorize(ctx context.Context, now time.Time, r Request) (Grant, error) {
	g, err := a.decide(ctx, now, r)
	if err == nil {
		err = g.allows(r.Role)
	}
	if err == nil {
		return g, nil
	}
	no := refusal(err)
	if a.cfg.OnRefusal != nil {
		a.cfg.OnRefusal(no.Code)
	}
	return Grant{}, no
}

func (a *Authorizer) decide(ctx context.Context, now time.Time, r Request) (Grant, error) {
	path := r.dialled(a.domains)
	if a.internal(r.Remote) {
		g, err := grantAt(everything, path, "internal peer")
		g.Peer = true
		return g, err
	}
	tok, err := r.presented()
	if err != nil {
		return Grant{}, err
	}
	if a.api != nil {
		return a.decideByAPI(ctx, now, r, path, tok)
	}
	switch {
	case r.Certificate != nil:
		g, err := a.certified(now, r.Certificate, path)
		g.Tier = a.cfg.MTLSTier
		return g, err
	case tok != "" && a.keys != nil:
		return a.tokened(ctx, now, tok, path, a.keys)
	default:
		return a.public(a.rules.public, path, tok)
	}
}

func (a *Authorizer) internal(remote netip.AddrPort) bool {
	addr := remote.Addr().Unmap().WithZone("")
	return slices.ContainsFunc(a.cfg.InternalPeers, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// tokened grants what a token says at path.
func (a *Authorizer) tokened(ctx context.Context, now time.Time, tok, path string, keys keySource) (Grant, error) {
	kid, err := token.KeyID(tok)
	if err != nil {
		return Grant{}, err
	}
	set, err := keys.get(ctx, now, kid)
	if err != nil {
		return Grant{}, err
	}
	claims, err := set.Verify(now, tok)
	if err == nil && a.cfg.RequireExp {
		err = claims.RequireExpiry()
	}
	if err != nil {
		return Grant{}, err
	}
	g, err := grantAt(claims.Scope, path, "token of "+cmp.Or(kid, "a nameless key"))
	if err != nil {
		return Grant{}, err
	}
	g.Expires = claims.Expires
	g.Peer = claims.Cluster || a.isClusterToken(tok)
	g.TokenID, g.Holder = claims.ID, claims.Subject
	return g, nil
}

func (a *Authorizer) isClusterToken(tok string) bool {
	own := a.cfg.ClusterToken
	return own != "" && subtle.ConstantTimeCompare([]byte(own), []byte(tok)) == 1
}

// public grants what s opens to everybody at path. A token was meant to say
// something else, so with nothing to verify it the session is refused.
func (a *Authorizer) public(s token.Scope, path, tok string) (Grant, error) {
	switch {
	case s.Empty() && tok == "":
		return Grant{}, refuse(CodeNoCredential, "no credential was presented and nothing is public")
	case s.Empty():
		return Grant{}, refuse(string(token.UnknownKey), "a token was presented and there is no key")
	case tok != "":
		return Grant{}, refuse(CodeTokenUnasked, "a token was presented to public rules")
	}
	return grantAt(s, path, "public")
}
