package relay

import (
	"github.com/moqmesh/moqmesh/relay/auth"
	"github.com/moqmesh/moqmesh/relay/conf"
)

// authConfig says the settings of access in the words of package auth.
func authConfig(cfg conf.Relay) auth.Config {
	a := auth.Config{
		Key: cfg.Auth.Key, KeyDir: cfg.Auth.KeyDir, RequireExp: cfg.Auth.RequireExp,
		Public: cfg.Auth.Public, PublicPublish: cfg.Auth.PublicPublish, PublicSubscribe: cfg.Auth.PublicSubscribe,
		API: cfg.Auth.API, Domains: cfg.Auth.Domains, MTLSTier: cfg.Auth.MTLSTier,
		ClientRoots: len(cfg.Listen.TLS.Root) > 0 || len(cfg.Web.HTTPS.Root) > 0,
		Scopes:      cfg.Listen.TLS.Scopes,
	}
	for _, p := range cfg.Cluster.InternalPeers {
		a.InternalPeers = append(a.InternalPeers, p.Prefix)
	}
	return a
}

// newAuth makes the authoriser of a configuration. It needs r.dials.
func (r *Relay) newAuth(cfg conf.Relay) (*auth.Authorizer, error) {
	a := authConfig(cfg)
	a.Log, a.OnRefusal, a.ClusterToken = r.log, r.refusals.add, r.clusterToken
	if r.dials != nil {
		a.Client = r.dials.HTTPClient()
	}
	return auth.New(a)
}
