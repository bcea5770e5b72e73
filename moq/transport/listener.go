package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"

	"github.com/moqmesh/moqmesh/moq/session"
)

// ListenConfig is how a Listener takes connections.
type ListenConfig struct {
	// ALPNs are the MoQ versions served, best first: the server's order decides
	// on raw QUIC, the client's on WebTransport.
	ALPNs []string
	// TLS supplies certificates; its NextProtos are set here.
	TLS *tls.Config
	// QUIC tunes the connections; nil takes DefaultQUIC.
	QUIC *quic.Config
	// Handshake bounds the TLS handshake and the CONNECT request. Zero: 10 s.
	Handshake time.Duration
	// CheckOrigin may refuse a page's WebTransport; nil lets all in.
	CheckOrigin func(*http.Request) bool
	// Refuse may turn an address away before TLS; nil takes all.
	Refuse func(net.Addr) bool
	// Log hears of what goes wrong before there is a session; nil discards.
	Log *slog.Logger
}

// DefaultQUIC is a configuration that suits a relay.
func DefaultQUIC() *quic.Config {
	return &quic.Config{
		MaxIdleTimeout:                   10 * time.Second,
		KeepAlivePeriod:                  3 * time.Second,
		MaxIncomingStreams:               10_000,
		MaxIncomingUniStreams:            10_000,
		EnableDatagrams:                  true,
		EnableStreamResetPartialDelivery: true,
	}
}

// Incoming is a connection that a peer has made.
type Incoming struct {
	Conn session.Conn
	// Transport is "quic" or "webtransport".
	Transport string
	// ALPN names the MoQ version; empty: SETUP decides ("moql").
	ALPN string
	// URL is the CONNECT request's, nil on raw QUIC.
	URL *url.URL
	// TLS is the state after the handshake.
	TLS tls.ConnectionState
}

// Listener takes raw QUIC and WebTransport on one UDP port.
type Listener struct {
	cfg  ListenConfig
	pc   net.PacketConn
	tr   *quic.Transport
	ln   *quic.EarlyListener
	wt   *webtransport.Server
	out  chan *Incoming
	wg   sync.WaitGroup
	stop context.CancelFunc
	ctx  context.Context
}

// Listen begins to take connections on pc, which the listener then owns.
func Listen(pc net.PacketConn, cfg ListenConfig) (*Listener, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.QUIC == nil {
		cfg.QUIC = DefaultQUIC()
	}
	if cfg.Handshake == 0 {
		cfg.Handshake = 10 * time.Second
	}
	l := &Listener{cfg: cfg, pc: pc, tr: &quic.Transport{Conn: pc}, out: make(chan *Incoming)}
	l.ctx, l.stop = context.WithCancel(context.Background())
	if cfg.Refuse != nil {
		l.tr.ConnContext = func(ctx context.Context, info *quic.ClientInfo) (context.Context, error) {
			if cfg.Refuse(info.RemoteAddr) {
				return nil, errors.New("refused by limits")
			}
			return ctx, nil
		}
	}
	tlsConf := withProtocols(cfg.TLS, append(slices.Clone(cfg.ALPNs), http3.NextProtoH3))
	quicConf := cfg.QUIC.Clone()
	quicConf.HandshakeIdleTimeout = cfg.Handshake
	ln, err := l.tr.ListenEarly(tlsConf, quicConf)
	if err != nil {
		pc.Close()
		return nil, fmt.Errorf("listen on %s: %w", pc.LocalAddr(), err)
	}
	l.ln = ln
	l.wt = l.webTransport()
	return l, nil
}

// withProtocols sets what a configuration negotiates, and what those do that it
// chooses for single clients.
func withProtocols(c *tls.Config, names []string) *tls.Config {
	c = c.Clone()
	c.NextProtos = names
	choose := c.GetConfigForClient
	if choose == nil {
		return c
	}
	c.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		chosen, err := choose(hello)
		if chosen == nil || err != nil {
			return nil, err
		}
		chosen = chosen.Clone()
		chosen.NextProtos = names
		return chosen, nil
	}
	return c
}

func (l *Listener) webTransport() *webtransport.Server {
	check := l.cfg.CheckOrigin
	if check == nil {
		check = func(*http.Request) bool { return true }
	}
	return &webtransport.Server{
		H3: &http3.Server{
			Handler:         http.HandlerFunc(l.upgrade),
			ConnContext:     l.connContext,
			MaxHeaderBytes:  32 << 10,
			EnableDatagrams: true,
		},
		ApplicationProtocols: l.cfg.ALPNs,
		CheckOrigin:          check,
	}
}

// Addr is the UDP address.
func (l *Listener) Addr() net.Addr { return l.pc.LocalAddr() }

// Transport is the QUIC transport of the port, for dialling from it.
func (l *Listener) Transport() *quic.Transport { return l.tr }

// Serve takes connections until ctx ends, handing each to handle on a goroutine
// of its own. It returns when all of them have returned and the port is free.
// Connections that are open then are the handlers' to close.
func (l *Listener) Serve(ctx context.Context, handle func(context.Context, *Incoming)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l.wg.Go(func() { l.dispatch(ctx, handle) })
	errs := make(chan error, acceptors)
	for range acceptors {
		l.wg.Go(func() { errs <- l.acceptLoop(ctx) })
	}
	err := <-errs
	l.ln.Close()
	cancel()
	l.stop()
	l.wg.Wait()
	l.wt.Close()
	l.tr.Close()
	l.pc.Close()
	return err
}

// dispatch starts a handler for each connection that is ready.
func (l *Listener) dispatch(ctx context.Context, handle func(context.Context, *Incoming)) {
	for {
		select {
		case in := <-l.out:
			l.wg.Go(func() { handle(ctx, in) })
		case <-ctx.Done():
			return
		}
	}
}

// acceptors wait for new connections side by side: beyond those that are waited
// for quic-go keeps 32, and refuses the rest of a burst.
const acceptors = 128

// acceptLoop does nothing but hand over.
func (l *Listener) acceptLoop(ctx context.Context) error {
	for {
		c, err := l.ln.Accept(ctx)
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		l.wg.Go(func() { l.take(ctx, c) })
	}
}

// take waits for the handshake, then serves HTTP/3 or passes raw QUIC on.
func (l *Listener) take(ctx context.Context, c *quic.Conn) {
	select {
	case <-c.HandshakeComplete():
	case <-c.Context().Done():
		return
	}
	state := c.ConnectionState()
	if state.TLS.NegotiatedProtocol == http3.NextProtoH3 {
		l.serveH3(ctx, c)
		return
	}
	in := &Incoming{Conn: newQUICConn(c), Transport: "quic", ALPN: version(state.TLS.NegotiatedProtocol), TLS: state.TLS}
	l.pass(ctx, in)
}

// version empties the ALPN that leaves the version to SETUP.
func version(alpn string) string {
	if alpn == "moql" {
		return ""
	}
	return alpn
}

func (l *Listener) pass(ctx context.Context, in *Incoming) bool {
	select {
	case l.out <- in:
		return true
	case <-ctx.Done():
		in.Conn.Close(session.CodeNoError, "")
		return false
	}
}

// h3Conn is what a CONNECT request needs to know of its connection.
type h3Conn struct {
	c    *quic.Conn
	idle *time.Timer // closes a connection that brings no session
}

type h3ConnKey struct{}

func (l *Listener) connContext(ctx context.Context, c *quic.Conn) context.Context {
	idle := time.AfterFunc(l.cfg.Handshake, func() {
		c.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "no session")
	})
	context.AfterFunc(c.Context(), func() { idle.Stop() })
	return context.WithValue(ctx, h3ConnKey{}, &h3Conn{c, idle})
}

// serveH3 serves one HTTP/3 connection. When ctx ends its session has the time
// to close with a code of its own.
func (l *Listener) serveH3(ctx context.Context, c *quic.Conn) {
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(2*flushTime, func() { c.CloseWithError(0, "") })
	})()
	if err := l.wt.ServeQUICConn(c); err != nil {
		l.cfg.Log.Debug("HTTP/3 connection", "err", err)
	}
}

// streamKeeper keeps the stream of a CONNECT request, for the close capsule.
type streamKeeper struct {
	http.ResponseWriter
	str *http3.Stream
}

func (k *streamKeeper) HTTPStream() *http3.Stream {
	k.str = k.ResponseWriter.(http3.HTTPStreamer).HTTPStream()
	return k.str
}

func (k *streamKeeper) Flush() { k.ResponseWriter.(http.Flusher).Flush() }

func (k *streamKeeper) ReceivedSettings() <-chan struct{} {
	return k.ResponseWriter.(http3.Settingser).ReceivedSettings()
}

func (k *streamKeeper) Settings() *http3.Settings {
	return k.ResponseWriter.(http3.Settingser).Settings()
}

// upgrade answers a CONNECT request with 200, whatever the peer may be allowed:
// a browser can read a refusal only from the session's close (relay.md §2).
func (l *Listener) upgrade(w http.ResponseWriter, r *http.Request) {
	keeper := &streamKeeper{ResponseWriter: w}
	wt, err := l.wt.Upgrade(keeper, r)
	if err != nil {
		l.cfg.Log.Debug("WebTransport refused", "err", err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	conn := r.Context().Value(h3ConnKey{}).(*h3Conn)
	conn.idle.Stop()
	c := conn.c
	in := &Incoming{
		Conn:      newWTConn(wt, c, uint64(keeper.str.StreamID()), keeper.str),
		Transport: "webtransport",
		ALPN:      version(wt.SessionState().ApplicationProtocol),
		URL:       r.URL,
		TLS:       c.ConnectionState().TLS,
	}
	l.pass(l.ctx, in)
}
