package relay

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// deaf is a socket that sends and hears nothing: its handshakes stay half open.
type deaf struct {
	net.PacketConn
	sent atomic.Int64
}

func (d *deaf) WriteTo(p []byte, addr net.Addr) (int, error) {
	d.sent.Add(1)
	return d.PacketConn.WriteTo(p, addr)
}

func (d *deaf) ReadFrom(p []byte) (int, net.Addr, error) {
	for {
		if _, _, err := d.PacketConn.ReadFrom(p); err != nil {
			return 0, nil, err
		}
	}
}

// halfOpen begins QUIC handshakes from one socket and never goes on with any. stop
// ends our side of them.
func halfOpen(t *testing.T, n *node, count int) (stop func()) {
	t.Helper()
	t.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true") // of the socket in between
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &deaf{PacketConn: pc}
	tr := &quic.Transport{Conn: d}
	ctx, cancel := context.WithCancel(t.Context())
	var dialling sync.WaitGroup
	for range count {
		dialling.Go(func() {
			conf := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{lite.V06.ALPN()}}
			if c, err := tr.Dial(ctx, n.Addrs()["quic"], conf, transport.DefaultQUIC()); err == nil {
				c.CloseWithError(0, "")
				t.Error("a deaf client has connected")
			}
		})
	}
	stop = sync.OnceFunc(func() { cancel(); dialling.Wait(); tr.Close(); pc.Close() })
	t.Cleanup(stop)
	eventually(t, "handshakes begun", func() bool { return d.sent.Load() >= int64(count) })
	return stop
}

// slowHeaders begins HTTP requests and never ends any. closed counts those that the
// relay has closed.
func slowHeaders(t *testing.T, n *node, count int) (closed *atomic.Int64) {
	t.Helper()
	closed = new(atomic.Int64)
	var waiting sync.WaitGroup
	for range count {
		c, err := net.Dial("tcp", n.Addrs()["http"].String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, "GET /health HTTP/1.1\r\nHost: ")
		waiting.Go(func() {
			c.Read(make([]byte, 1))
			closed.Add(1)
		})
		t.Cleanup(func() { c.Close() })
	}
	t.Cleanup(waiting.Wait) // runs before the connections are closed here: the relay does that
	return closed
}

// silent opens sessions that never say SETUP, on every transport. closed counts those
// that the relay has closed.
func silent(t *testing.T, n *node, count int) (closed *atomic.Int64) {
	t.Helper()
	closed = new(atomic.Int64)
	for i := range count {
		d, err := transport.Dial(bounded(t), n.url(allTransports[i%len(allTransports)], "/"), transport.DialConfig{
			ALPNs: []string{lite.V06.ALPN()}, TLS: &tls.Config{InsecureSkipVerify: true}, WebSocketDelay: -1,
		})
		if err != nil {
			t.Fatal(err)
		}
		var moving sync.WaitGroup
		if d.Run != nil {
			moving.Go(func() { d.Run(context.Background()) })
		}
		context.AfterFunc(d.Conn.Context(), func() { closed.Add(1) })
		t.Cleanup(func() { d.Conn.Close(session.CodeNoError, ""); moving.Wait() })
	}
	return closed
}

// Peers that begin and do not go on cost the others nothing while they last, and are
// let go in time: half requests, half handshakes, sessions without SETUP.
func TestSlowPeersLeaveOthersAlone(t *testing.T) {
	n := start(t, withTimeout(time.Second))
	w := dial(t, n.url("moqt", "/")).publish(t, "x", "video")
	viewers := make([]*party, len(allTransports))
	for i, scheme := range allTransports {
		viewers[i] = dial(t, n.url(scheme, "/"))
	}
	s := viewers[0].view(t, "x", "video")
	write(t, w, 0, "before")
	expect(t, s, 0, "before")
	n.settled(t, 1+len(viewers))
	before := runtime.NumGoroutine()

	hangUp := halfOpen(t, n, 200)
	slow, mute := slowHeaders(t, n, 200), silent(t, n, 60)
	for i := uint64(1); i <= 100; i++ {
		write(t, w, i, "during")
		expect(t, s, i, "during")
	}
	late := dial(t, n.url("https", "/")) // who comes now is let in, and served
	reach(t, late.view(t, "x", "video"), 100, "during")
	if status, body := get(t, n.url("http", "/fetch/x/video")); status != 200 || body != "during" {
		t.Errorf("/fetch = %d %q", status, body)
	}
	late.leave()

	eventually(t, "the slow are let go", func() bool { return slow.Load() == 200 && mute.Load() == 60 })
	n.settled(t, 1+len(viewers))
	if c := n.tiers.counters(""); c.GroupsReset.Load()+c.GroupsSkipped.Load() != 0 {
		t.Errorf("%d groups reset and %d skipped for others", c.GroupsReset.Load(), c.GroupsSkipped.Load())
	}
	write(t, w, 101, "after")
	expect(t, s, 101, "after")
	hangUp()
	eventually(t, "nothing is left of them", func() bool { return runtime.NumGoroutine() <= before })
}
