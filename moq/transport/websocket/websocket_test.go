package websocket

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport/qmux"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// acceptor is an HTTP handler that upgrades everything and runs it.
type acceptor struct {
	opts  AcceptOptions
	conns chan *qmux.Conn
	runs  sync.WaitGroup
}

func newAcceptor(opts AcceptOptions) *acceptor {
	return &acceptor{opts: opts, conns: make(chan *qmux.Conn, 8)}
}

func (a *acceptor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	conn, _, err := Accept(w, r, a.opts)
	if err != nil {
		return
	}
	a.conns <- conn
	a.runs.Go(func() { _ = conn.Run(context.Background()) })
}

// serve runs a on loopback and returns its URL.
func (a *acceptor) serve(t *testing.T, tls bool) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(a)
	if tls {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(func() {
		s.Close()
		a.runs.Wait()
	})
	return s
}

func wsURL(s *httptest.Server) string { return "ws" + strings.TrimPrefix(s.URL, "http") }

// run runs conn until the test ends.
func run(t *testing.T, conn *qmux.Conn) {
	t.Helper()
	var wg sync.WaitGroup
	wg.Go(func() { _ = conn.Run(context.Background()) })
	t.Cleanup(func() {
		conn.Close(session.CodeNoError, "")
		wg.Wait()
	})
}

func TestLoopback(t *testing.T) {
	for _, secure := range []bool{false, true} {
		a := newAcceptor(AcceptOptions{ALPNs: alpns})
		s := a.serve(t, secure)
		opts := DialOptions{ALPNs: alpns}
		if secure {
			opts.TLS = s.Client().Transport.(*http.Transport).TLSClientConfig
		}
		client, agreed, err := Dial(t.Context(), wsURL(s)+"/room?jwt=x", nil, opts)
		if err != nil {
			t.Fatal(err)
		}
		if want := (Negotiated{"moq-lite-05", "qmux-01"}); agreed != want {
			t.Errorf("negotiated %+v, want %+v", agreed, want)
		}
		run(t, client)
		server := <-a.conns
		if client.LocalAddr().String() != server.RemoteAddr().String() || client.RemoteAddr().String() != server.LocalAddr().String() {
			t.Errorf("addresses: %v-%v, %v-%v", client.LocalAddr(), client.RemoteAddr(), server.RemoteAddr(), server.LocalAddr())
		}
		exchange(t, client, server)
		exchange(t, server, client)
		server.Close(567, "full")
		<-client.Context().Done()
		var ce *session.CloseError
		if cause := context.Cause(client.Context()); !errors.As(cause, &ce) || ce.Code != 567 || ce.Reason != "full" || !ce.Remote {
			t.Errorf("client ended with %v", cause)
		}
	}
}

// exchange carries 2 MiB over a stream and a word over another.
func exchange(t *testing.T, from, to *qmux.Conn) {
	t.Helper()
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<17)
	stream, err := from.OpenStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := stream.Write(data); err != nil {
			t.Error(err)
		}
		_ = stream.Close()
	})
	peer, err := to.AcceptStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(peer); err != nil || !bytes.Equal(got, data) {
		t.Errorf("read %d bytes, %v, want %d", len(got), err, len(data))
	}
	wg.Wait()
	_ = peer.Close()
	if got, err := io.ReadAll(stream); len(got) != 0 || err != nil {
		t.Errorf("read %d bytes, %v from the empty half", len(got), err)
	}
}

func TestUnknownSubprotocols(t *testing.T) {
	var log bytes.Buffer
	a := newAcceptor(AcceptOptions{ALPNs: alpns, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	s := a.serve(t, false)
	ws, resp, err := websocket.Dial(t.Context(), s.URL, &websocket.DialOptions{Subprotocols: []string{"chat"}})
	if err == nil {
		_ = ws.CloseNow()
		t.Fatal("upgraded")
	}
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("status %d, want 400", resp.StatusCode)
	}
	if !strings.Contains(log.String(), "rejecting WebSocket upgrade: no supported subprotocol offered") {
		t.Errorf("log: %s", log.String())
	}
}

// Without a sub-protocol the upgrade works, in the legacy framing.
func TestNoSubprotocol(t *testing.T) {
	a := newAcceptor(AcceptOptions{ALPNs: alpns})
	s := a.serve(t, false)
	ws, _, err := websocket.Dial(t.Context(), s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	server := <-a.conns
	for typ, m := range map[websocket.MessageType]string{websocket.MessageText: "not for us", websocket.MessageBinary: "\x09\x02hi"} {
		if err := ws.Write(t.Context(), typ, []byte(m)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := server.AcceptUniStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); string(got) != "hi" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	server.Close(3, "enough")
	if _, m, err := ws.Read(t.Context()); string(m) != "\x1d\x03enough" || err != nil {
		t.Errorf("last message %q, %v", m, err)
	}
	if _, _, err := ws.Read(t.Context()); websocket.CloseStatus(err) != 4003 {
		t.Errorf("WebSocket closed with %v, want status 4003", err)
	}
}

// A peer that knows only the WebSocket's own close frame is understood.
func TestPlainClose(t *testing.T) {
	a := newAcceptor(AcceptOptions{ALPNs: alpns})
	s := a.serve(t, false)
	ws, _, err := websocket.Dial(t.Context(), s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	server := <-a.conns
	_ = ws.Close(websocket.StatusGoingAway, "tab closed")
	<-server.Context().Done()
	var ce *session.CloseError
	if cause := context.Cause(server.Context()); !errors.As(cause, &ce) || ce.Code != 0 || !ce.Remote {
		t.Errorf("ended with %v", cause)
	}
}

func TestMessageTooBig(t *testing.T) {
	a := newAcceptor(AcceptOptions{ALPNs: alpns})
	s := a.serve(t, false)
	ws, _, err := websocket.Dial(t.Context(), s.URL, &websocket.DialOptions{Subprotocols: []string{"qmux-01"}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	server := <-a.conns
	if _, _, err := ws.Read(t.Context()); err != nil { // its parameters: it now writes nothing more
		t.Fatal(err)
	}
	_ = ws.Write(t.Context(), websocket.MessageBinary, make([]byte, 20_000))
	<-server.Context().Done()
	if cause := context.Cause(server.Context()); !errors.Is(cause, websocket.ErrMessageTooBig) {
		t.Errorf("ended with %v", cause)
	}
}

func TestDialRefused(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, r.Header.Get("Authorization"), http.StatusForbidden)
	}))
	defer s.Close()
	_, _, err := Dial(t.Context(), wsURL(s)+"/?jwt=secret", http.Header{"Authorization": {"Bearer secret"}}, DialOptions{ALPNs: alpns})
	var se *StatusError
	if !errors.As(err, &se) || se.Status != http.StatusForbidden {
		t.Errorf("Dial = %v, want status 403", err)
	}
	s.Close()
	for _, url := range []string{wsURL(s) + "/?jwt=secret", "ftp://localhost/?jwt=secret", "ws://bad host/?jwt=secret"} {
		if _, _, err := Dial(t.Context(), url, nil, DialOptions{ALPNs: alpns}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("Dial(%q) = %v", url, err)
		}
	}
}

// pipeListener hands out connections in memory, for bubbles of fake time.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (l *pipeListener) dial(context.Context, string, string) (net.Conn, error) {
	a, b := net.Pipe()
	l.conns <- newBuffered(b)
	return newBuffered(a), nil
}

// bufferedConn is an end of a net.Pipe that takes some writes before the other
// end reads, like a socket.
type bufferedConn struct {
	net.Conn
	out  chan []byte
	done chan struct{}
	once sync.Once
}

func newBuffered(c net.Conn) *bufferedConn {
	b := &bufferedConn{Conn: c, out: make(chan []byte, 64), done: make(chan struct{})}
	go b.pump() // ends with Close, and the bubble waits for it
	return b
}

func (b *bufferedConn) pump() {
	for {
		select {
		case p := <-b.out:
			_, _ = b.Conn.Write(p)
		case <-b.done:
			return
		}
	}
}

func (b *bufferedConn) Write(p []byte) (int, error) {
	select {
	case b.out <- bytes.Clone(p):
		return len(p), nil
	case <-b.done:
		return 0, net.ErrClosed
	}
}

func (b *bufferedConn) Close() error {
	b.once.Do(func() { close(b.done) })
	return b.Conn.Close()
}

// serveInBubble runs a over a listener in memory until the test ends.
func (a *acceptor) serveInBubble(t *testing.T) *pipeListener {
	t.Helper()
	l := newPipeListener()
	s := &http.Server{Handler: a}
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(l) })
	t.Cleanup(func() {
		_ = s.Close()
		wg.Wait()
		a.runs.Wait()
	})
	return l
}

// "closes after 30 s without any frame" (§2.6.1)
func TestSilentPeer(t *testing.T) {
	for _, subprotocol := range []string{"webtransport", "qmux-00"} {
		synctest.Test(t, func(t *testing.T) {
			a := newAcceptor(AcceptOptions{Conn: qmux.Config{HandshakeTimeout: time.Hour}})
			l := a.serveInBubble(t)
			client := &http.Client{Transport: &http.Transport{DialContext: l.dial}}
			ws, _, err := websocket.Dial(t.Context(), "ws://relay", &websocket.DialOptions{HTTPClient: client, Subprotocols: []string{subprotocol}})
			if err != nil {
				t.Fatal(err)
			}
			defer ws.CloseNow()
			begin := time.Now()
			server := <-a.conns // nobody reads at the client: no pongs
			<-server.Context().Done()
			cause, took := context.Cause(server.Context()), time.Since(begin)
			if !errors.Is(cause, ErrSilent) || took != silence {
				t.Errorf("ended after %v with %v", took, cause)
			}
		})
	}
}

// The pings keep a quiet session alive whatever its framing.
func TestQuietSessionLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAcceptor(AcceptOptions{ALPNs: alpns})
		l := a.serveInBubble(t)
		client, _, err := Dial(t.Context(), "ws://relay", nil, DialOptions{ALPNs: alpns, DialContext: l.dial})
		if err != nil {
			t.Fatal(err)
		}
		run(t, client)
		legacy, _, err := websocket.Dial(t.Context(), "ws://relay", &websocket.DialOptions{HTTPClient: &http.Client{Transport: &http.Transport{DialContext: l.dial}}})
		if err != nil {
			t.Fatal(err)
		}
		ctx := legacy.CloseRead(t.Context())
		defer legacy.CloseNow()
		time.Sleep(time.Hour)
		for range 2 {
			if server := <-a.conns; server.Context().Err() != nil {
				t.Errorf("ended: %v", context.Cause(server.Context()))
			}
		}
		if ctx.Err() != nil {
			t.Error("the legacy client was closed")
		}
	})
}

// A peer that takes nothing any more does not hold up our end.
func TestCloseWithStuckPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAcceptor(AcceptOptions{ALPNs: alpns})
		l := a.serveInBubble(t)
		ws, _, err := websocket.Dial(t.Context(), "ws://relay", &websocket.DialOptions{HTTPClient: &http.Client{Transport: &http.Transport{DialContext: l.dial}}})
		if err != nil {
			t.Fatal(err)
		}
		defer ws.CloseNow()
		server := <-a.conns
		s, err := server.OpenUniStream()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.TryWrite(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the writer is stuck in the socket
		begin := time.Now()
		server.Close(session.CodeNoError, "")
		a.runs.Wait()
		if took := time.Since(begin); took > 3*time.Second {
			t.Errorf("Run took %v to end", took)
		}
	})
}
