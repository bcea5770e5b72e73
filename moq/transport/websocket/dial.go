package websocket

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/coder/websocket"

	"github.com/moqmesh/moqmesh/moq/transport/qmux"
)

// DialOptions is how a client makes WebSockets.
type DialOptions struct {
	// ALPNs are the MoQ versions offered, by ALPN, best first.
	ALPNs []string
	// TLS is for wss URLs. Nil means the system's roots.
	TLS *tls.Config
	// DialContext makes the TCP connection. Nil means that of net.Dialer.
	DialContext func(ctx context.Context, network, address string) (net.Conn, error)
	// Conn is the template of the connection. Version, Client and the addresses
	// are set by Dial.
	Conn qmux.Config
}

// StatusError is a refusal of the upgrade by the server.
type StatusError struct {
	Status int // of the HTTP response
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("server refused the upgrade: %d %s", e.Status, http.StatusText(e.Status))
}

// Dial opens a WebSocket to a ws or wss URL, sending header with the request,
// and returns the connection, whose Run the caller runs. ctx bounds the
// handshake alone. Redirects are not followed. A refusal is a *StatusError.
// Errors do not show the URL's query.
func Dial(ctx context.Context, rawURL string, header http.Header, opts DialOptions) (*qmux.Conn, Negotiated, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, Negotiated{}, fmt.Errorf("parse WebSocket URL: %w", withoutURL(err))
	}
	if u.Scheme != "ws" && u.Scheme != "wss" {
		return nil, Negotiated{}, fmt.Errorf("dial %s: scheme %q is not ws or wss", u.Host, u.Scheme)
	}
	conn, agreed, err := dial(ctx, u, header, opts)
	if err != nil {
		return nil, Negotiated{}, fmt.Errorf("dial %s://%s: %w", u.Scheme, u.Host, withoutURL(err))
	}
	return conn, agreed, nil
}

func dial(ctx context.Context, u *url.URL, header http.Header, opts DialOptions) (*qmux.Conn, Negotiated, error) {
	d := &dialer{dial: opts.DialContext}
	transport := d.transport(opts.TLS)
	defer transport.CloseIdleConnections()
	p := new(pipe)
	ws, resp, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{
		HTTPClient:     &http.Client{Transport: transport, CheckRedirect: noRedirect},
		HTTPHeader:     header,
		Subprotocols:   offered(opts.ALPNs),
		OnPingReceived: p.onPing,
		OnPongReceived: p.onPong,
	})
	if err != nil {
		if resp != nil && resp.StatusCode != http.StatusSwitchingProtocols {
			return nil, Negotiated{}, &StatusError{Status: resp.StatusCode}
		}
		return nil, Negotiated{}, err
	}
	if ws.Subprotocol() == "" {
		_ = ws.CloseNow()
		return nil, Negotiated{}, ErrNoSubprotocol
	}
	agreed, version, ok := parse(ws.Subprotocol())
	if !ok {
		_ = ws.CloseNow()
		return nil, Negotiated{}, fmt.Errorf("server chose sub-protocol %q", ws.Subprotocol())
	}
	cfg := opts.Conn
	cfg.Version, cfg.Client = version, true
	cfg.LocalAddr, cfg.RemoteAddr = d.socket.LocalAddr(), d.socket.RemoteAddr()
	p.open(ws, d.socket, version)
	return qmux.New(p, cfg), agreed, nil
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// withoutURL takes the URL, which may hold a token, out of an error.
func withoutURL(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err
	}
	return err
}

// dialer makes the one TCP connection of a WebSocket and remembers it.
type dialer struct {
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	socket net.Conn
}

func (d *dialer) transport(conf *tls.Config) *http.Transport {
	if conf != nil {
		conf = conf.Clone()
		conf.NextProtos = []string{"http/1.1"}
	}
	return &http.Transport{
		TLSClientConfig:     conf,
		TLSHandshakeTimeout: 10 * time.Second,
		DialContext:         d.dialContext,
		Proxy:               http.ProxyFromEnvironment,
	}
}

func (d *dialer) dialContext(ctx context.Context, network, address string) (net.Conn, error) {
	dial := d.dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	socket, err := dial(ctx, network, address)
	d.socket = socket
	return socket, err
}
