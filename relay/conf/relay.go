package conf

import (
	"time"

	"github.com/moqmesh/moqmesh/internal/config"
)

// Relay is the configuration of one relay. [Default] gives the values that
// hold when nothing is said; the zero value of a field means "none" unless its
// help says otherwise. It is not changed after it has been handed over.
type Relay struct {
	Listen   Listen   `key:"listen"`
	Connect  Connect  `key:"connect"`
	QUIC     QUIC     `key:"quic"`
	Cluster  Cluster  `key:"cluster"`
	Auth     Auth     `key:"auth" reload:"live"`
	Web      Web      `key:"web"`
	Internal Internal `key:"internal"`
	Cache    Cache    `key:"cache" reload:"live"`
	Limits   Limits   `key:"limits" reload:"live"`
	Log      Log      `key:"log"`
	Stats    Stats    `key:"stats" inert:"stats broadcasts are not built: stats.* has no effect, the internal listener serves /metrics"`

	// DrainTimeout starts with the first SIGINT or SIGTERM; a second one ends
	// the relay at once.
	DrainTimeout time.Duration `key:"drain_timeout" help:"how long sessions may stay after the first stop signal; 0 closes at once"`
}

// Listen is where publishers, viewers and peers come in.
type Listen struct {
	// Bind is empty when only TCP or Unix listeners are configured. Port 0
	// takes a free port.
	Bind    config.HostPort `key:"bind" flag:"listen" help:"UDP address for QUIC and WebTransport; without a value of its own there is none when only tcp or unix is configured"`
	Version []Version       `key:"version" help:"protocol versions offered to QUIC, WebTransport and WebSocket clients; empty = all finished ones"`
	Timeout time.Duration   `key:"timeout" help:"bound on transport handshake, MoQ SETUP and reading an HTTP/1 header; 0 = none"`
	TCP     ListenTCP       `key:"tcp"`
	Unix    ListenUnix      `key:"unix"`
	TLS     ListenTLS       `key:"tls" reload:"live"`
}

// ListenTCP is the plaintext qmux listener over TCP.
type ListenTCP struct {
	Bind config.HostPort `key:"bind" help:"plaintext TCP address; anything but loopback logs a warning"`
}

// ListenUnix is the plaintext qmux listener over a Unix socket.
type ListenUnix struct {
	Bind  string    `key:"bind" help:"path of the Unix socket, mode 0666; an old socket there is replaced"`
	Allow UnixAllow `key:"allow"`
}

// UnixAllow narrows who may connect over the Unix socket, before SETUP is
// read. All non-empty lists must match; an empty one matches everybody.
type UnixAllow struct {
	UID []uint32 `key:"uid" help:"user ids that may connect; empty = any"`
	GID []uint32 `key:"gid" help:"group ids that may connect; empty = any"`
	PID []int32  `key:"pid" help:"process ids that may connect; empty = any"`
}

// ListenTLS is the server side of TLS for QUIC and WebTransport.
type ListenTLS struct {
	// Cert and Key are paired by position. The first certificate also serves
	// clients that name no host we know.
	Cert     []string `key:"cert" help:"PEM files of certificate chains, paired with key by position; watched"`
	Key      []string `key:"key" help:"PEM files of private keys"`
	Generate []string `key:"generate" help:"host names for a self-signed certificate, renewed before its 14 days are over"`
	// Root verifies client certificates, which stay optional. A verified
	// client is a peer. Without an entry in Scopes it has full access below
	// the path that it dials; with one, to what of its patterns lies there.
	Root   []string `key:"root" help:"PEM files of the CAs for optional client certificates"`
	Scopes Scopes   `key:"scopes" flag:"-" help:"patterns, from the root of the relay, that a client certificate may publish and subscribe to, by its name; without an entry everything below the path it dials"`
}

// Connect is how the relay dials: peers, auth server, peer lists.
type Connect struct {
	// URL exists for configurations shared with clients.
	URL             string          `key:"url" flag:"connect" secret:"url" help:"not used by the relay itself"`
	Bind            config.HostPort `key:"bind" help:"local UDP address"`
	Race            time.Duration   `key:"race" help:"head start of one address before the next is dialled too; 0 = all at once"`
	ResolutionDelay time.Duration   `key:"resolution_delay" help:"wait for the full DNS answer before starting with IPv4 alone"`
	Timeout         time.Duration   `key:"timeout" help:"bound on a whole dial with its handshake; 0 = none"`
	Version         []Version       `key:"version" help:"protocol versions offered when dialling; empty = all finished ones"`
	Once            bool            `key:"once" help:"do not reconnect a session that ended"`
	TLS             ConnectTLS      `key:"tls" reload:"live"`
	Backoff         Backoff         `key:"backoff"`
	Goaway          Goaway          `key:"goaway"`
	WebSocket       WebSocket       `key:"websocket"`
}

// ConnectTLS is the client side of TLS.
type ConnectTLS struct {
	Root []string `key:"root" help:"PEM files of CAs to trust; watched"`
	// SystemRoots nil means true exactly when Root is empty.
	SystemRoots *bool    `key:"system_roots" help:"trust the system's CAs; default: only when no root is given"`
	Fingerprint []string `key:"fingerprint" help:"SHA-256 of the server certificates to trust, in hex, instead of checking the chain"`
	Cert        string   `key:"cert" help:"PEM file of the client certificate chain"`
	Key         string   `key:"key" help:"PEM file of the client's private key"`
	Insecure    bool     `key:"insecure" help:"DANGER: do not verify the server at all"`
	HostName    string   `key:"host_name" help:"name to ask for and to verify instead of the URL's host"`
}

// Backoff is the wait between dials of one server.
type Backoff struct {
	// Initial below 50ms counts as 50ms.
	Initial    time.Duration `key:"initial" flag:"backoff-initial" help:"wait after the first failure, at least 50ms"`
	Multiplier uint32        `key:"multiplier" flag:"backoff-multiplier" help:"growth of the wait after each further failure"`
	Max        time.Duration `key:"max" flag:"backoff-max" help:"longest wait"`
	Timeout    time.Duration `key:"timeout" flag:"backoff-timeout" help:"give up after failing for this long; 0 = never"`
}

// Goaway is what to do when the server asks us to leave.
type Goaway struct {
	Redirect Redirect      `key:"redirect" flag:"goaway-redirect" help:"where a server may send us"`
	Handover time.Duration `key:"handover" flag:"goaway-handover" help:"how long the old session may serve beside its replacement"`
}

// WebSocket is the fallback of a dial whose QUIC does not get through.
type WebSocket struct {
	Enabled bool          `key:"enabled" help:"fall back to WebSocket"`
	Delay   time.Duration `key:"delay" help:"head start of QUIC"`
}

// QUIC holds for both directions.
type QUIC struct {
	MaxStreams    uint64        `key:"max_streams" help:"streams of each kind that one connection may have open; MoQ needs one for each group"`
	GSO           bool          `key:"gso" help:"let the kernel cut large sends into packets; turn off for network cards that mangle them"`
	IdleTimeout   time.Duration `key:"idle_timeout" help:"close a silent connection after this long; 0 = never"`
	KeepAlive     time.Duration `key:"keep_alive" help:"ping interval of an idle connection; 0 = off"`
	MTUDiscovery  bool          `key:"mtu_discovery" help:"probe for larger packets"`
	Congestion    Congestion    `key:"congestion_control" help:"family of congestion control"`
	ReceiveWindow config.Bytes  `key:"receive_window" help:"data of all streams of a connection that may be in flight to us"`
	// The zero values leave the choice to the QUIC library.
	StreamReceiveWindow config.Bytes `key:"stream_receive_window" help:"the same for one stream; 0 = library default"`
	SendWindow          config.Bytes `key:"send_window" help:"unacknowledged data to one peer; 0 = library default"`
	QLog                string       `key:"qlog" help:"existing directory for qlog traces, one file for each connection; empty = none"`
}

// Auth says who may do what. At least one way must be configured, unless
// client certificates are accepted.
type Auth struct {
	Key    string `key:"key" secret:"url" help:"file or URL of one JWK, or a set, that verifies tokens"`
	KeyDir string `key:"key_dir" secret:"url" help:"directory or URL of keys; a token's kid names the file KID.jwk"`
	// Public keeps both dialects as written: patterns such as "anon/**", and
	// released prefixes such as "anon" or "" for everything.
	Public          Rules    `key:"public" help:"patterns that everybody may publish and subscribe to, such as \"anon/**\""`
	PublicSubscribe Rules    `key:"public_subscribe" help:"patterns that everybody may subscribe to"`
	PublicPublish   Rules    `key:"public_publish" help:"patterns that everybody may publish"`
	API             string   `key:"auth_api" flag:"auth-api" secret:"url" help:"URL asked once for each connection; excludes keys and public rules"`
	Domains         []string `key:"domains" flag:"auth-domain" help:"host suffixes; the labels before them, reversed, are put in front of the path"`
	MTLSTier        string   `key:"mtls_tier" help:"metrics tier of clients with a certificate when nothing else names one"`
	RequireExp      bool     `key:"require_exp" help:"refuse tokens that never expire"`
}

// Web is the public HTTP side: endpoints and WebSocket.
type Web struct {
	HTTP  WebHTTP  `key:"http"`
	HTTPS WebHTTPS `key:"https"`
	WS    bool     `key:"ws" help:"accept WebSocket sessions on every path that is no endpoint"`
}

// WebHTTP is the plain listener.
type WebHTTP struct {
	Listen config.HostPort `key:"listen" help:"TCP address for plain HTTP; empty = off"`
}

// WebHTTPS is the TLS listener.
type WebHTTPS struct {
	Listen config.HostPort `key:"listen" help:"TCP address for HTTPS, needs cert and key; empty = off"`
	Cert   []string        `key:"cert" reload:"live" help:"PEM files of certificate chains, paired with key by position; watched"`
	Key    []string        `key:"key" reload:"live" help:"PEM files of private keys"`
	Root   []string        `key:"root" reload:"live" help:"PEM files of the CAs for optional client certificates"`
}

// Internal is the operator's listener. It asks for no credential.
type Internal struct {
	Listen config.HostPort `key:"listen" help:"TCP address for /metrics, /nodes and /sessions; keep it on loopback or a private network; empty = off"`
}

// Cache bounds what is kept of the past. The newest group of a live track is
// always kept.
type Cache struct {
	Capacity config.Amount `key:"capacity" help:"bytes of cached groups to aim for, or a share of the memory; unset = no bound"`
	Headroom config.Amount `key:"headroom" help:"memory to leave free: the cache shrinks when less is available; unset = off"`
	Duration time.Duration `key:"duration" help:"longest time that an old group is kept; 0 = as its track says"`
}

// Limits bound what one session, one address and all together may take. A
// refusal is counted by its reason. Peers are exempt from the counts.
type Limits struct {
	Sessions                  uint64       `key:"sessions" help:"sessions at a time; 0 = no limit"`
	SessionsPerAddress        uint64       `key:"sessions_per_address" help:"sessions at a time from one IP address; 0 = no limit"`
	SubscriptionsPerSession   uint64       `key:"subscriptions_per_session" help:"subscriptions that one session may hold, unless it is a cluster peer; 0 = no limit"`
	AnnouncementsPerSession   uint64       `key:"announcements_per_session" help:"broadcasts that one session may announce, unless it is a cluster peer; 0 = no limit"`
	BandwidthPerSession       config.Rate  `key:"bandwidth_per_session" help:"bits per second sent to one session, unless it is a cluster peer; 0 = no limit"`
	OpenGroupsPerSubscription uint64       `key:"open_groups_per_subscription" help:"groups on their way to one subscriber; the oldest is reset beyond it; at least 1"`
	QueuePerSession           config.Bytes `key:"queue_per_session" help:"bytes waiting for one session; the oldest groups are reset beyond it; at least 64KiB"`
}

// Log is what the relay writes to standard error.
type Log struct {
	Level  Level  `key:"level" reload:"live" help:"least severe level that is written"`
	Format Format `key:"format" help:"form of a line"`
}

// Stats is kept so that files of the Rust relay load. It has no effect.
type Stats struct {
	Enabled  bool          `key:"enabled" help:"no effect"`
	Prefix   string        `key:"prefix" help:"no effect"`
	Interval uint64        `key:"interval" help:"no effect; seconds"`
	Node     string        `key:"node" help:"no effect"`
	Depth    uint32        `key:"depth" help:"no effect"`
	Linger   time.Duration `key:"linger" help:"no effect"`
}

// Default is the configuration when no source says anything.
func Default() Relay {
	return Relay{
		Listen: Listen{Bind: "[::]:443", Timeout: 10 * time.Second},
		Connect: Connect{
			Bind: "[::]:0", Race: 250 * time.Millisecond, ResolutionDelay: 50 * time.Millisecond, Timeout: 30 * time.Second,
			Backoff:   Backoff{Initial: time.Second, Multiplier: 2, Max: 5 * time.Second, Timeout: 10 * time.Second},
			Goaway:    Goaway{Redirect: "same-host", Handover: 10 * time.Second},
			WebSocket: WebSocket{Enabled: true, Delay: 200 * time.Millisecond},
		},
		QUIC: QUIC{
			MaxStreams: 10000, GSO: true, IdleTimeout: 10 * time.Second, KeepAlive: 3 * time.Second,
			Congestion: "delay", ReceiveWindow: 64 << 20,
		},
		Cluster: Cluster{MaxHops: 32},
		Web:     Web{WS: true},
		Limits: Limits{
			SubscriptionsPerSession: 1000, AnnouncementsPerSession: 1000,
			OpenGroupsPerSubscription: 64, QueuePerSession: 8 << 20,
		},
		Log:          Log{Level: "info", Format: "text"},
		Stats:        Stats{Prefix: ".stats", Interval: 1, Linger: 5 * time.Minute},
		DrainTimeout: 10 * time.Second,
	}
}
