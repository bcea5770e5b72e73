package relay

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/moqmesh/moqmesh/relay/conf"
)

// Reload applies what can change while running, all of it or nothing, and logs
// what waits for a restart. Certificates, authorities and keys are read beside
// those in use, which stay when anything of the new configuration is wrong.
// Sessions that are open stay, and so does what has not changed.
func (r *Relay) Reload(next conf.Relay) error {
	r.reloading.Lock()
	defer r.reloading.Unlock()
	running := *r.cfg.Load()
	applied := withLive(running, next)
	commit, err := r.prepare(running, applied)
	if err != nil {
		return fmt.Errorf("reload: %w", err)
	}
	commit()
	for _, c := range conf.Changes(running, applied) {
		r.log.Info("configuration changed", "key", c.Key)
	}
	for _, c := range conf.Changes(applied, next) {
		r.log.Warn("configuration change needs a restart", "key", c.Key)
	}
	return nil
}

// withLive is the running configuration with the settings of next that can
// change while running: those that package conf marks live.
func withLive(running, next conf.Relay) conf.Relay {
	c := running
	c.Auth, c.Limits, c.Cache = next.Auth, next.Limits, next.Cache
	c.Listen.TLS, c.Connect.TLS = next.Listen.TLS, next.Connect.TLS
	c.Web.HTTPS = next.Web.HTTPS
	c.Web.HTTPS.Listen = running.Web.HTTPS.Listen
	c.Cluster.Connect, c.Cluster.InternalPeers = next.Cluster.Connect, next.Cluster.InternalPeers
	c.Log.Level = next.Log.Level
	return c
}

// prepare reads and checks what differs from the running configuration. commit
// puts it in force and cannot fail.
func (r *Relay) prepare(running, next conf.Relay) (commit func(), err error) {
	var (
		steps []func()
		errs  []error
		ctx   = context.Background() // only files are read
	)
	add := func(step func(), err error) {
		steps, errs = append(steps, step), append(errs, err)
	}
	if tls := quicCerts(next.Listen.TLS); r.certs != nil && differ(tls, quicCerts(running.Listen.TLS)) {
		add(r.certs.Prepare(ctx, tls))
	}
	if tls := webCerts(next.Web.HTTPS); r.webCerts != nil && differ(tls, webCerts(running.Web.HTTPS)) {
		add(r.webCerts.Prepare(ctx, tls))
	}
	if tls := dialCerts(next.Connect.TLS); differ(tls, dialCerts(running.Connect.TLS)) {
		add(r.dials.Prepare(ctx, tls))
	}
	if differ(authConfig(next), authConfig(running)) {
		authorizer, err := r.newAuth(next)
		add(func() { r.auth.Store(authorizer) }, err)
	}
	if differ(next.Cluster.Connect, running.Cluster.Connect) {
		static, err := r.staticPeers(next)
		add(func() { r.cluster.SetStatic(static) }, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return func() {
		for _, step := range steps {
			step()
		}
		r.cfg.Store(&next)
		if r.level != nil {
			r.level.Set(slogLevel(next.Log.Level))
		}
	}, nil
}

func differ(a, b any) bool { return !reflect.DeepEqual(a, b) }
