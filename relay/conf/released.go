package conf

import (
	"slices"
	"strings"

	"github.com/moqmesh/moqmesh/internal/config"
)

// released are the names of the Rust relay up to 0.14 that still work here.
var released = slices.Concat(
	moved("server", "listen", "bind", "version", "tcp.bind", "unix.bind",
		"unix.allow.uid", "unix.allow.gid", "unix.allow.pid", "tls.root"),
	[]config.Alias{
		{Old: "server.listen", New: "listen.bind", Flag: "listen", Env: "MOQ_LISTEN"},
		{Old: "server.tls.cert", New: "listen.tls.cert", Flag: "tls-cert"},
		{Old: "server.tls.key", New: "listen.tls.key", Flag: "tls-key"},
		{Old: "server.tls.generate", New: "listen.tls.generate", Flag: "tls-generate"},
	},

	moved("client", "connect", "bind", "resolution_delay", "version",
		"tls.root", "tls.system_roots", "tls.fingerprint", "tls.cert", "tls.key", "tls.host_name"),
	[]config.Alias{
		{Old: "client.connect", New: "connect.url"},
		{Old: "client.failover_delay", New: "connect.race"},
		{Old: "client.timeout", New: "connect.timeout", Flag: "client-connect-timeout", Env: "MOQ_CLIENT_CONNECT_TIMEOUT"},
		{Old: "client.reconnect", New: "connect.once", Convert: invert},
		{Old: "client.tls.disable_verify", New: "connect.tls.insecure"},
		{Flag: "tls-disable-verify", New: "connect.tls.insecure"},
		{Flag: "tls-root", New: "connect.tls.root"},
		{Flag: "tls-fingerprint", New: "connect.tls.fingerprint"},
		{Flag: "tls-system-roots", New: "connect.tls.system_roots"},
		{Old: "client.backoff.initial", New: "connect.backoff.initial", Flag: "backoff-initial", Env: "MOQ_BACKOFF_INITIAL"},
		{Old: "client.backoff.multiplier", New: "connect.backoff.multiplier", Flag: "backoff-multiplier", Env: "MOQ_BACKOFF_MULTIPLIER"},
		{Old: "client.backoff.max", New: "connect.backoff.max", Flag: "backoff-max", Env: "MOQ_BACKOFF_MAX"},
		{Old: "client.backoff.timeout", New: "connect.backoff.timeout", Flag: "backoff-timeout", Env: "MOQ_BACKOFF_TIMEOUT"},
		{Old: "client.websocket.enabled", New: "connect.websocket.enabled", Flag: "websocket-enabled"},
		{Old: "client.websocket.delay", New: "connect.websocket.delay", Flag: "websocket-delay"},
	},

	moved("server.quic", "quic", quicKeys...),
	moved("client.quic", "quic", quicKeys...),
	[]config.Alias{
		{Flag: "server-max-streams", New: "quic.max_streams"},
		{Flag: "client-max-streams", New: "quic.max_streams"},
	},

	moved("auth.tls", "connect.tls", "root", "cert", "key"),
	[]config.Alias{
		{Old: "auth.tls.disable_verify", New: "connect.tls.insecure"},
		{Old: "auth.public.subscribe", New: "auth.public_subscribe", Flag: "auth-public-subscribe",
			Env: "MOQ_AUTH_PUBLIC_SUBSCRIBE", Convert: prefixes},
		{Old: "auth.public.publish", New: "auth.public_publish", Flag: "auth-public-publish",
			Env: "MOQ_AUTH_PUBLIC_PUBLISH", Convert: prefixes},
	},
)

var quicKeys = []string{"max_streams", "gso", "idle_timeout", "keep_alive", "mtu_discovery", "congestion_control", "qlog"}

// moved renames the table of keys that kept their names.
func moved(old, today string, keys ...string) []config.Alias {
	out := make([]config.Alias, len(keys))
	for i, k := range keys {
		out[i] = config.Alias{Old: old + "." + k, New: today + "." + k}
	}
	return out
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
