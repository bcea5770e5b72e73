package relay

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/moqmesh/moqmesh/internal/config"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
	"github.com/moqmesh/moqmesh/relay/conf"
)

var (
	allVersions   = []lite.Version{lite.V01, lite.V02, lite.V03, lite.V04, lite.V05, lite.V06WIP, lite.V06, lite.V07WIP}
	allTransports = []string{"moqt", "https", "ws"}
)

// crossing sends a group from one session to another, both of which must speak v.
func crossing(t *testing.T, n *node, scheme, path string, v lite.Version, offer ...lite.Version) {
	t.Helper()
	pub := dial(t, n.url(scheme, path), speaking(offer...))
	sub := dial(t, n.url(scheme, path), speaking(offer...))
	for _, p := range []*party{pub, sub} {
		if p.Version() != v {
			t.Errorf("%s negotiated %v, want %v", scheme, p.Version(), v)
		}
	}
	write(t, pub.publish(t, "room/cam", "video"), 0, "hello")
	expect(t, sub.view(t, "room/cam", "video"), 0, "hello")
}

func TestA1EveryTransportTakesTheNewest(t *testing.T) {
	for _, scheme := range allTransports {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			crossing(t, start(t), scheme, "/", lite.V06)
		})
	}
}

func TestA2RelayLimitedToOneVersion(t *testing.T) {
	for _, v := range allVersions {
		for _, scheme := range allTransports {
			t.Run(v.String()+"/"+scheme, func(t *testing.T) {
				t.Parallel()
				crossing(t, start(t, withVersions(v)), scheme, "/", v, allVersions...)
			})
		}
	}
}

func TestA2FallbackNegotiatesTheSame(t *testing.T) {
	n := start(t, withVersions(lite.V04))
	pub := dial(t, n.url("http", "/"), speaking(allVersions...), func(c *client.Config) {
		c.Dial.WebSocketDelay = time.Millisecond
		c.Dial.Pin = func(string) *tls.Config { // trusts nobody: QUIC must fail
			return &tls.Config{VerifyConnection: func(tls.ConnectionState) error { return errors.New("untrusted") }}
		}
	})
	if pub.Transport != "websocket" || pub.Version() != lite.V04 {
		t.Errorf("fell back to %s with %v, want websocket with %v", pub.Transport, pub.Version(), lite.V04)
	}
}

func TestA3NoPathIsTheRoot(t *testing.T) {
	n := start(t)
	for _, scheme := range allTransports {
		crossing(t, n, scheme, "", lite.V06)
	}
}

// A client without a path in its first message cannot say where it wants to be.
func TestA10PathsOfEveryVersion(t *testing.T) {
	for _, v := range allVersions {
		for _, scheme := range allTransports {
			if scheme == "moqt" && (v == lite.V03 || v == lite.V04) {
				continue // no SETUP, no URL
			}
			t.Run(v.String()+"/"+scheme, func(t *testing.T) {
				t.Parallel()
				n := start(t, withVersions(v))
				pub := dial(t, n.url(scheme, "/x/y"), speaking(v))
				sub := dial(t, n.url(scheme, "/"), speaking(v))
				write(t, pub.publish(t, "name", "video"), 0, "hello")
				expect(t, sub.view(t, "x/y/name", "video"), 0, "hello")
			})
		}
	}
}

func TestA4UnknownSubprotocols(t *testing.T) {
	n := start(t)
	if status := upgrade(t, n, "Sec-WebSocket-Protocol: qmux-01.moq-lite-99, other\r\n"); status != http.StatusBadRequest {
		t.Errorf("upgrade with only unknown sub-protocols: status %d, want 400", status)
	}
	if !strings.Contains(n.log.String(), "rejecting WebSocket upgrade: no supported subprotocol offered") {
		t.Error("the refusal was not logged")
	}
}

func TestA4NoSubprotocolIsSettledInSetup(t *testing.T) {
	n := start(t)
	if status := upgrade(t, n, ""); status != http.StatusSwitchingProtocols {
		t.Errorf("upgrade without sub-protocols: status %d, want 101", status)
	}
}

// upgrade asks the plain listener for a WebSocket at /, and returns its status.
func upgrade(t *testing.T, n *node, headers string) int {
	t.Helper()
	c, err := net.Dial("tcp", n.Addrs()["http"].String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: relay\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n%s\r\n", headers)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

// lateness is the listen.timeout of the tests about it.
const lateness = 150 * time.Millisecond

func TestA7SilentPeersAreClosed(t *testing.T) {
	for _, v := range []lite.Version{lite.V01, lite.V05, lite.V06} { // those with a SETUP
		n := start(t, withVersions(v), withTimeout(lateness))
		for _, scheme := range allTransports {
			t.Run(v.String()+"/"+scheme, func(t *testing.T) {
				d, err := transport.Dial(bounded(t), n.url(scheme, "/"), transport.DialConfig{
					ALPNs: transport.ALPNs([]lite.Version{v}), TLS: &tls.Config{InsecureSkipVerify: true}, WebSocketDelay: -1,
				})
				if err != nil {
					t.Fatal(err)
				}
				moved := make(chan struct{})
				go func() {
					defer close(moved)
					if d.Run != nil {
						d.Run(context.Background())
					}
				}()
				select {
				case <-d.Conn.Context().Done():
				case <-bounded(t).Done():
					t.Error("the relay waits for SETUP for ever")
				}
				var closed *session.CloseError
				if err := context.Cause(d.Conn.Context()); !errors.As(err, &closed) || closed.Code != session.CodeControlTimeout {
					t.Errorf("closed with %v, want %v", err, session.CodeControlTimeout)
				}
				d.Conn.Close(session.CodeNoError, "")
				<-moved
			})
		}
	}
}

func TestA7HTTP3WithoutASession(t *testing.T) {
	n := start(t, withTimeout(lateness))
	c, err := quic.DialAddr(bounded(t), n.Addrs()["quic"].String(),
		&tls.Config{InsecureSkipVerify: true, NextProtos: []string{http3.NextProtoH3}}, transport.DefaultQUIC())
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseWithError(0, "")
	select {
	case <-c.Context().Done():
	case <-bounded(t).Done():
		t.Error("a connection without a CONNECT request stays open")
	}
}

func TestA7SlowHeaders(t *testing.T) {
	n := start(t, withTimeout(lateness))
	c, err := net.Dial("tcp", n.Addrs()["http"].String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET /health HTTP/1.1\r\nHost: ")
	c.SetReadDeadline(time.Now().Add(patience))
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("half a request: %v, want the connection closed", err)
	}
}

func TestA14FingerprintIsThatOfTheHandshake(t *testing.T) {
	n := start(t)
	c, err := quic.DialAddr(bounded(t), n.Addrs()["quic"].String(),
		&tls.Config{InsecureSkipVerify: true, NextProtos: []string{http3.NextProtoH3}}, transport.DefaultQUIC())
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseWithError(0, "")
	sum := sha256.Sum256(c.ConnectionState().TLS.PeerCertificates[0].Raw)
	if status, body := get(t, n.url("http", "/certificate.sha256")); status != 200 || body != hex.EncodeToString(sum[:]) {
		t.Errorf("/certificate.sha256 = %d %q, want the certificate's %x", status, body, sum)
	}
}

func TestA16PublishersDoNotDisturbEachOther(t *testing.T) {
	n := start(t)
	a := dial(t, n.url("moqt", "/"), as(lite.RolePublisher)).publish(t, "a", "video")
	b := dial(t, n.url("https", "/"), as(lite.RolePublisher)).publish(t, "b", "video")
	sub := dial(t, n.url("ws", "/"), as(lite.RoleSubscriber))
	fromA, fromB := sub.view(t, "a", "video"), sub.view(t, "b", "video")
	for i := range uint64(3) {
		write(t, a, i, "from a")
		write(t, b, i, "from b")
		expect(t, fromA, i, "from a")
		expect(t, fromB, i, "from b")
	}
	a.Finish()
	if _, ok, err := fromA.NextGroup(bounded(t)); ok || err != nil {
		t.Errorf("after the end of a: %v, %v, want a clean end", ok, err)
	}
	write(t, b, 3, "from b")
	expect(t, fromB, 3, "from b")
}

// A63: a burst of dials is longer than QUIC's queue of new connections.
func TestA63BurstOfDials(t *testing.T) {
	const dials = 500
	n := start(t)
	var wg sync.WaitGroup
	errs := make(chan error, dials)
	for range dials {
		wg.Go(func() {
			c, err := quic.DialAddr(bounded(t), n.Addrs()["quic"].String(),
				&tls.Config{InsecureSkipVerify: true, NextProtos: []string{lite.V06.ALPN()}}, transport.DefaultQUIC())
			if err != nil {
				errs <- err
				return
			}
			c.CloseWithError(0, "")
		})
	}
	wg.Wait()
	close(errs)
	refused := 0
	var last error
	for err := range errs {
		refused, last = refused+1, err
	}
	if refused > 0 {
		t.Errorf("%d of %d dials failed, the last with %v", refused, dials, last)
	}
}

// The codes of §2 arrive on every transport as they were sent.
func TestCloseCodesArrive(t *testing.T) {
	n := start(t)
	for _, scheme := range allTransports {
		for _, code := range []session.SessionCode{session.CodeNoError, session.CodeProtocolViolation, session.CodeGoawayTimeout, appCode(503)} {
			t.Run(fmt.Sprintf("%s/%#x", scheme, uint32(code)), func(t *testing.T) {
				p := dial(t, n.url(scheme, "/"))
				e := n.settled(t, 1)[0]
				e.conn.Close(code, "because")
				if got := p.closedWith(t); got.Code != code || got.Reason != "because" {
					t.Errorf("closed with %v, want %v (because)", got, code)
				}
				n.settled(t, 0)
			})
		}
	}
}

// settled waits until exactly count sessions are open, and authorised.
func (n *node) settled(t *testing.T, count int) []*live {
	t.Helper()
	var list []*live
	eventually(t, fmt.Sprintf("%d sessions", count), func() bool {
		list = n.sessions.list()
		for _, e := range list {
			if s, _, _ := e.opened(); s == nil {
				return false
			}
		}
		return len(list) == count
	})
	return list
}

// C4: a listener that cannot be opened takes the others down with it.
func TestC4NothingHalfOpen(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	free, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	udp := free.LocalAddr().String()
	free.Close()
	for _, busied := range []edit{
		func(c *conf.Relay) { c.Web.HTTP.Listen = config.HostPort(busy.Addr().String()) },
		func(c *conf.Relay) { c.Internal.Listen = config.HostPort(busy.Addr().String()) },
	} {
		cfg := testConfig()
		cfg.Listen.Bind = config.HostPort(udp)
		busied(&cfg)
		r, err := New(cfg, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Listen(t.Context()); err == nil || !strings.Contains(err.Error(), busy.Addr().String()) {
			t.Errorf("Listen = %v, want an error that names %s", err, busy.Addr())
		}
		for kind, addr := range r.Addrs() {
			if kind == "quic" {
				again, err := net.ListenPacket("udp", addr.String())
				if err != nil {
					t.Fatalf("the UDP port is still taken: %v", err)
				}
				again.Close()
			} else if c, err := net.Dial("tcp", addr.String()); err == nil {
				c.Close()
				t.Errorf("the %s port is still open", kind)
			}
		}
	}
}
