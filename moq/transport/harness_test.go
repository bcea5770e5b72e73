package transport

import (
	"context"
	"crypto/tls"
	"net"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"go.uber.org/goleak"

	"github.com/moqmesh/moqmesh/internal/simlink"
	"github.com/moqmesh/moqmesh/internal/testcert"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// schemes lead to the transports that run over UDP.
var schemes = []string{"moqt", "https"}

// served is a listener on a simulated host.
type served struct {
	host  *simlink.Host
	conns chan *Incoming
}

// serve listens at an address until the test ends, with what conf says beside the
// versions and a certificate. Call it in a bubble.
func serve(t *testing.T, n *simlink.Network, addr string, conf ListenConfig) *served {
	t.Helper()
	s := &served{host: n.Host(addr, simlink.Line{}), conns: make(chan *Incoming)}
	conf.ALPNs = ALPNs(Finished)
	conf.TLS = &tls.Config{Certificates: []tls.Certificate{testcert.NewCA(t, "ca").Server(t, "localhost").TLS}}
	l, err := Listen(s.host, conf)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Serve(ctx, func(ctx context.Context, in *Incoming) {
			select {
			case s.conns <- in:
			case <-ctx.Done():
			}
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	return s
}

// from dials from a host of the network, over its line.
func from(h *simlink.Host) DialConfig {
	return DialConfig{
		ALPNs: []string{lite.V06.ALPN()}, TLS: &tls.Config{InsecureSkipVerify: true}, WebSocketDelay: -1,
		Listen: func(string) (net.PacketConn, error) { return h, nil },
	}
}

// pair is a connection from both of its ends, over a line of its own.
type pair struct {
	net            *simlink.Network
	line           *simlink.Host
	client, server session.Conn
}

// join connects a client over line. conf is the server's; nil is DefaultQUIC.
func join(t *testing.T, scheme string, line simlink.Line, conf *quic.Config) *pair {
	t.Helper()
	t.Cleanup(func() { time.Sleep(5 * time.Second) }) // let what is closed go
	p := &pair{net: simlink.New(t, 7)}
	s := serve(t, p.net, "10.0.0.1:443", ListenConfig{QUIC: conf})
	p.line = p.net.Host("10.0.0.2:1", line)
	d, err := Dial(t.Context(), scheme+"://10.0.0.1/", from(p.line))
	if err != nil {
		t.Fatal(err)
	}
	p.client, p.server = d.Conn, (<-s.conns).Conn
	t.Cleanup(func() {
		p.client.Close(session.CodeNoError, "")
		p.server.Close(session.CodeNoError, "")
		time.Sleep(5 * time.Second) // the connections close in the background
	})
	return p
}
