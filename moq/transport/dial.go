package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport/websocket"
)

// DialConfig is how a client reaches a server. The zero value trusts the
// system's roots and offers nothing: set ALPNs.
type DialConfig struct {
	// ALPNs are the MoQ versions offered, best first.
	ALPNs []string
	// TLS is the client's configuration; nil trusts the system's roots. Its
	// NextProtos are set here.
	TLS *tls.Config
	// QUIC tunes the connection; nil takes DefaultQUIC.
	QUIC *quic.Config
	// Timeout bounds the whole dial. Zero: 30 s.
	Timeout time.Duration
	// Race is how long one address has before the next is tried beside it
	// (Happy Eyeballs). Zero: 250 ms.
	Race time.Duration
	// ResolutionDelay is how long IPv4 addresses that are known wait for the answer
	// about IPv6 (RFC 8305, section 3). Negative: not at all. Zero: 50 ms.
	ResolutionDelay time.Duration
	// WebSocketDelay is the head start of QUIC before the WebSocket fallback of
	// https, moqt and moql URLs. Negative: no fallback. Zero: 200 ms.
	WebSocketDelay time.Duration
	// Listen opens the UDP socket; nil opens one on any port. The connection
	// closes it.
	Listen func(network string) (net.PacketConn, error)
	// Pin makes a TLS configuration that trusts only the leaf with this hex
	// SHA-256, for http URLs. nil: those are refused.
	Pin func(fingerprint string) *tls.Config
}

// Dialled is a connection that we made.
type Dialled struct {
	Conn session.Conn
	// Transport is "quic", "webtransport" or "websocket".
	Transport string
	// ALPN names the MoQ version; empty: SETUP decides.
	ALPN string
	// Path is what a SETUP must carry, query included, on transports without a URL.
	Path string
	// Run, if not nil, moves the connection's bytes: call it on a goroutine; it
	// blocks until the connection ends.
	Run func(context.Context) error
}

// Dial connects to a URL: https (WebTransport), moqt or moql (raw QUIC), ws or
// wss, or http (fetches the certificate's fingerprint there, then dials https
// trusting only that). QUIC falls back to WebSocket. Errors do not show the
// URL's query.
func Dial(ctx context.Context, rawURL string, cfg DialConfig) (*Dialled, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("dial: not a URL with a host: %q", redact(rawURL))
	}
	cfg = cfg.withDefaults()
	ctx, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	d, err := dialURL(ctx, u, cfg)
	if err != nil {
		return nil, fmt.Errorf("dial %s://%s: %w", u.Scheme, u.Host, err)
	}
	return d, nil
}

// redact cuts a URL's query, which may hold a token.
func redact(rawURL string) string {
	head, _, _ := strings.Cut(rawURL, "?")
	return head
}

func (c DialConfig) withDefaults() DialConfig {
	if c.TLS == nil {
		c.TLS = &tls.Config{}
	}
	if c.QUIC == nil {
		c.QUIC = DefaultQUIC()
	}
	if c.Timeout == 0 {
		c.Timeout = 30 * time.Second
	}
	if c.Race == 0 {
		c.Race = 250 * time.Millisecond
	}
	if c.ResolutionDelay == 0 {
		c.ResolutionDelay = 50 * time.Millisecond
	}
	if c.WebSocketDelay == 0 {
		c.WebSocketDelay = 200 * time.Millisecond
	}
	if c.Listen == nil {
		c.Listen = func(network string) (net.PacketConn, error) { return net.ListenPacket(network, ":0") }
	}
	return c
}

func dialURL(ctx context.Context, u *url.URL, cfg DialConfig) (*Dialled, error) {
	switch u.Scheme {
	case "ws", "wss":
		return dialWebSocket(ctx, u, cfg)
	case "http":
		return dialPinned(ctx, u, cfg)
	case "https", "moqt", "moql":
		if cfg.WebSocketDelay < 0 {
			return dialQUIC(ctx, u, cfg)
		}
		return race(ctx, cfg.WebSocketDelay,
			func(ctx context.Context) (*Dialled, error) { return dialQUIC(ctx, u, cfg) },
			func(ctx context.Context) (*Dialled, error) { return dialFallback(ctx, u, cfg) })
	}
	return nil, fmt.Errorf("scheme %q is none of https, moqt, moql, ws, wss, http", u.Scheme)
}

// dialPinned learns the fingerprint over plain HTTP first. It protects against
// nobody on the path: a helper for development.
func dialPinned(ctx context.Context, u *url.URL, cfg DialConfig) (*Dialled, error) {
	if cfg.Pin == nil {
		return nil, errors.New("http URLs need a way to pin certificates")
	}
	fp, err := fetchFingerprint(ctx, u)
	if err != nil {
		return nil, err
	}
	cfg.TLS = cfg.Pin(fp)
	secure := *u
	secure.Scheme = "https"
	if cfg.WebSocketDelay < 0 {
		return dialQUIC(ctx, &secure, cfg)
	}
	plain := *u
	plain.Scheme = "ws"
	return race(ctx, cfg.WebSocketDelay,
		func(ctx context.Context) (*Dialled, error) { return dialQUIC(ctx, &secure, cfg) },
		func(ctx context.Context) (*Dialled, error) { return dialWebSocket(ctx, &plain, cfg) })
}

func fetchFingerprint(ctx context.Context, u *url.URL) (string, error) {
	at := url.URL{Scheme: "http", Host: u.Host, Path: "/certificate.sha256"}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("fetch certificate fingerprint: %w", err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, 256))
	if err != nil || res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("fetch certificate fingerprint: status %d", res.StatusCode)
	}
	return strings.TrimSpace(string(b)), nil
}

// dialFallback is the WebSocket twin of a QUIC URL.
func dialFallback(ctx context.Context, u *url.URL, cfg DialConfig) (*Dialled, error) {
	ws := *u
	ws.Scheme = "wss"
	return dialWebSocket(ctx, &ws, cfg)
}

func dialWebSocket(ctx context.Context, u *url.URL, cfg DialConfig) (*Dialled, error) {
	conn, got, err := websocket.Dial(ctx, u.String(), nil, websocket.DialOptions{ALPNs: cfg.ALPNs, TLS: cfg.TLS.Clone()})
	if err != nil {
		return nil, err
	}
	return &Dialled{Conn: conn, Transport: "websocket", ALPN: version(got.ALPN), Run: conn.Run}, nil
}

// dialQUIC resolves the host and races its addresses.
func dialQUIC(ctx context.Context, u *url.URL, cfg DialConfig) (*Dialled, error) {
	addrs, err := resolve(ctx, u, cfg.ResolutionDelay)
	if err != nil {
		return nil, err
	}
	return dialAddrs(ctx, u, addrs, cfg)
}

func dialAddrs(ctx context.Context, u *url.URL, addrs []*net.UDPAddr, cfg DialConfig) (*Dialled, error) {
	attempts := make([]func(context.Context) (*Dialled, error), len(addrs))
	for i, addr := range addrs {
		attempts[i] = func(ctx context.Context) (*Dialled, error) { return dialAddr(ctx, u, addr, cfg) }
	}
	return race(ctx, cfg.Race, attempts...)
}

func dialAddr(ctx context.Context, u *url.URL, addr *net.UDPAddr, cfg DialConfig) (*Dialled, error) {
	network := "udp6"
	if addr.IP.To4() != nil {
		network = "udp4"
	}
	pc, err := cfg.Listen(network)
	if err != nil {
		return nil, err
	}
	tlsConf := cfg.TLS.Clone()
	if tlsConf.ServerName == "" {
		tlsConf.ServerName = u.Hostname()
	}
	tlsConf.NextProtos = cfg.ALPNs
	if u.Scheme == "https" {
		tlsConf.NextProtos = []string{http3.NextProtoH3}
	}
	tr := &quic.Transport{Conn: pc}
	c, err := tr.Dial(ctx, addr, tlsConf, cfg.QUIC)
	if err != nil {
		tr.Close()
		pc.Close()
		return nil, err
	}
	context.AfterFunc(c.Context(), func() {
		time.AfterFunc(100*time.Millisecond, func() { tr.Close(); pc.Close() })
	})
	if u.Scheme != "https" {
		alpn := c.ConnectionState().TLS.NegotiatedProtocol
		return &Dialled{Conn: newQUICConn(c), Transport: "quic", ALPN: version(alpn), Path: setupPath(u)}, nil
	}
	return connect(ctx, c, u, cfg.ALPNs)
}

// setupPath is the request path for a SETUP.
func setupPath(u *url.URL) string {
	if u.RawQuery == "" {
		return u.EscapedPath()
	}
	return u.EscapedPath() + "?" + u.RawQuery
}

// race starts the attempts one after the other, each after a delay or as soon as
// the one before fails, and returns the first that succeeds; the others are undone.
func race(ctx context.Context, delay time.Duration, attempts ...func(context.Context) (*Dialled, error)) (*Dialled, error) {
	if len(attempts) == 0 {
		return nil, errors.New("no address to dial")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		d   *Dialled
		err error
	}
	results := make(chan result)
	var errs []error
	won, running := (*Dialled)(nil), 0
	next := 0
	timer := time.NewTimer(delay)
	defer timer.Stop()
	launch := func() {
		attempt := attempts[next]
		next++
		running++
		timer.Reset(delay)
		go func() {
			d, err := attempt(ctx)
			results <- result{d, err}
		}()
	}
	launch()
	for running > 0 {
		select {
		case r := <-results:
			running--
			switch {
			case r.err != nil:
				errs = append(errs, r.err)
			case won == nil:
				won = r.d
				cancel()
			default:
				r.d.discard()
			}
		case <-timer.C:
		}
		if won == nil && next < len(attempts) {
			launch()
		}
	}
	if won != nil {
		return won, nil
	}
	return nil, errors.Join(errs...)
}

// discard closes a connection that lost a race.
func (d *Dialled) discard() {
	d.Conn.Close(session.CodeNoError, "")
	if d.Run != nil {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		d.Run(ctx)
	}
}
