package relay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/moqmesh/moqmesh/internal/certs"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/relay/conf"
)

// Listen reads the certificates and opens all sockets, or none.
func (r *Relay) Listen(ctx context.Context) error {
	if err := r.listen(ctx); err != nil {
		r.closeSockets()
		return err
	}
	return nil
}

func (r *Relay) listen(ctx context.Context) error {
	cfg := r.cfg.Load()
	for _, store := range []*certs.Store{r.certs, r.webCerts} {
		if store == nil {
			continue
		}
		if err := store.Load(ctx); err != nil {
			return err
		}
	}
	if err := r.dials.Load(ctx); err != nil {
		return err
	}
	if err := r.listenQUIC(cfg); err != nil {
		return err
	}
	return r.listenWeb(cfg)
}

func (r *Relay) listenQUIC(cfg *conf.Relay) error {
	if cfg.Listen.Bind == "" {
		return nil
	}
	pc, err := net.ListenPacket("udp", string(cfg.Listen.Bind))
	if err != nil {
		return bindError("listen.bind", string(cfg.Listen.Bind), err)
	}
	r.quic, err = transport.Listen(pc, transport.ListenConfig{
		ALPNs: transport.ALPNs(r.versions), TLS: r.certs.TLS(), QUIC: quicConfig(cfg.QUIC),
		Handshake: cmp.Or(cfg.Listen.Timeout, forever), Refuse: r.sessions.refuse, Log: r.log,
	})
	if err != nil {
		return err
	}
	r.log.Info("listening", "addr", r.quic.Addr().String(), "kind", "quic")
	return nil
}

func (r *Relay) listenWeb(cfg *conf.Relay) error {
	public := r.publicHandler()
	for _, l := range []struct {
		name, key, addr string
		tls             *certs.Store
		handler         http.Handler
	}{
		{"http", "web.http.listen", string(cfg.Web.HTTP.Listen), nil, public},
		{"https", "web.https.listen", string(cfg.Web.HTTPS.Listen), r.webCerts, public},
		{"internal", "internal.listen", string(cfg.Internal.Listen), nil, r.internalHandler()},
	} {
		if l.addr == "" {
			continue
		}
		w, err := listenHTTP(l.name, l.addr, l.tls, l.handler, cfg.Listen.Timeout, r.log)
		if err != nil {
			return bindError(l.key, l.addr, err)
		}
		if l.name == "internal" {
			r.internal = w
		} else {
			r.web = append(r.web, w)
		}
		r.log.Info("listening", "addr", w.ln.Addr().String(), "kind", l.name)
	}
	return nil
}

// bindError says which setting could not be served, and what to write where the
// machine has no IPv6.
func bindError(key, addr string, err error) error {
	if host, port, _ := net.SplitHostPort(addr); errors.Is(err, syscall.EAFNOSUPPORT) && strings.Contains(host, ":") {
		return fmt.Errorf("%s: this machine has no IPv6; an IPv4 address such as 0.0.0.0:%s would do: %w", key, port, err)
	}
	return fmt.Errorf("%s: %w", key, err)
}

func (r *Relay) closeSockets() {
	if r.quic != nil {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		r.quic.Serve(ctx, nil)
	}
	for _, w := range r.http() {
		w.ln.Close()
	}
}

// Addrs are the addresses that Listen opened, by kind: quic, http, https, internal.
func (r *Relay) Addrs() map[string]net.Addr {
	addrs := make(map[string]net.Addr)
	if r.quic != nil {
		addrs["quic"] = r.quic.Addr()
	}
	for _, w := range r.http() {
		addrs[w.name] = w.ln.Addr()
	}
	return addrs
}

// http are the HTTP listeners that are open.
func (r *Relay) http() []*webListener {
	if r.internal == nil {
		return r.web
	}
	return append(r.web[:len(r.web):len(r.web)], r.internal)
}
