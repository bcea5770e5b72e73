package conf

import (
	"strings"

	"github.com/moqmesh/moqmesh/internal/config"
)

// released are the names of the Rust relay up to 0.14 that still work here.
// Keys of a table follow the table unless they are listed themselves.
var released = []config.Alias{
	{Old: "server.bind", New: "listen.bind"},
	{Old: "server.listen", New: "listen.bind", Flag: "listen", Env: "MOQ_LISTEN"},
	{Old: "server.tls.cert", New: "listen.tls.cert", Flag: "tls-cert"},
	{Old: "server.tls.key", New: "listen.tls.key", Flag: "tls-key"},
	{Old: "server.tls.generate", New: "listen.tls.generate", Flag: "tls-generate"},
	{Flag: "server-max-streams", New: "quic.max_streams"},
	{Old: "server.quic", New: "quic"},
	{Old: "server", New: "listen"},

	{Old: "client.connect", New: "connect.url"},
	{Old: "client.failover_delay", New: "connect.race"},
	{Old: "client.timeout", New: "connect.timeout", Flag: "client-connect-timeout", Env: "MOQ_CLIENT_CONNECT_TIMEOUT"},
	{Old: "client.reconnect", New: "connect.once", Convert: invert},
	{Old: "client.tls.disable_verify", New: "connect.tls.insecure"},
	{Flag: "tls-disable-verify", New: "connect.tls.insecure"},
	{Flag: "tls-root", New: "connect.tls.root"},
	{Flag: "tls-fingerprint", New: "connect.tls.fingerprint"},
	{Flag: "tls-system-roots", New: "connect.tls.system_roots"},
	{Old: "client.websocket.enabled", New: "connect.websocket.enabled", Flag: "websocket-enabled"},
	{Old: "client.websocket.delay", New: "connect.websocket.delay", Flag: "websocket-delay"},
	{Flag: "client-max-streams", New: "quic.max_streams"},
	{Old: "client.quic", New: "quic"},
	{Old: "client", New: "connect"},

	{Old: "auth.tls.disable_verify", New: "connect.tls.insecure"},
	{Old: "auth.tls", New: "connect.tls"},
	{Old: "auth.public.subscribe", New: "auth.public_subscribe", Flag: "auth-public-subscribe", Convert: prefixes},
	{Old: "auth.public.publish", New: "auth.public_publish", Flag: "auth-public-publish", Convert: prefixes},
}

func invert(v any) any { return !v.(bool) }

// prefixes turns released path prefixes into the patterns that mean the same.
func prefixes(v any) any {
	out := make(Rules, 0, len(v.(Rules)))
	for _, p := range v.(Rules) {
		switch p = strings.Trim(p, "/"); {
		case strings.Contains(p, "*"):
		case p == "":
			p = "**"
		default:
			p += "/**"
		}
		out = append(out, p)
	}
	return out
}

// unsupported are keys of the Rust relay that this one does not have.
var unsupported = []config.Unsupported{
	{Key: "runtime.workers", Note: "the Go runtime uses all cores"},
	{Key: "runtime.pin"},
	{Key: "runtime.io_uring"},
	{Key: "iroh.enabled"},
	{Key: "iroh.secret"},
	{Key: "iroh.bind_v4"},
	{Key: "iroh.bind_v6"},
	{Key: "iroh.disable_relay"},
	{Key: "cluster.lan.enabled", Flag: "cluster-lan"},
	{Key: "cluster.lan.secret"},
	{Key: "cluster.lan.app"},
	{Key: "cluster.root", Note: "list the relays to dial in cluster.connect"},
	{Key: "listen.load_balancer.id", Flag: "listen-quic-lb-id"},
	{Key: "listen.load_balancer.nonce", Flag: "listen-quic-lb-nonce"},
	{Key: "listen.preferred_v4"},
	{Key: "listen.preferred_v6"},
	{Key: "server.quic.quic_lb_id", Flag: "server-quic-lb-id"},
	{Key: "server.quic.quic_lb_nonce", Flag: "server-quic-lb-nonce"},
	{Key: "server.quic.preferred_v4", Flag: "server-preferred-v4"},
	{Key: "server.quic.preferred_v6", Flag: "server-preferred-v6"},
	{Key: "auth.url", Note: "use auth.key, auth.key_dir, auth.auth_api or public rules"},
	{Key: "auth.public.api", Note: "use auth.auth_api"},
	{Key: "server.backend", Note: "there is one QUIC stack", Harmless: true},
	{Key: "client.backend", Note: "there is one QUIC stack", Harmless: true},
}
