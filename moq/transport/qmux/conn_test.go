package qmux

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/moq/session"
	wire "github.com/moqmesh/moqmesh/moq/wire/qmux"
)

var versions = []wire.Version{wire.Legacy, wire.V00, wire.V01, wire.V02}

// inBubbles runs f for each version, in a bubble of fake time.
func inBubbles(t *testing.T, vs []wire.Version, f func(t *testing.T, cfg Config)) {
	t.Helper()
	for _, v := range vs {
		t.Run(v.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, Config{Version: v}) })
		})
	}
}

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestStreamsBothWays(t *testing.T) {
	inBubbles(t, versions, func(t *testing.T, cfg Config) {
		client, server := newPair(t, cfg, cfg)
		for _, dir := range []struct{ from, to *Conn }{{client, server}, {server, client}} {
			testUni(t, dir.from, dir.to)
			testBidi(t, dir.from, dir.to)
		}
	})
}

func testUni(t *testing.T, from, to *Conn) {
	t.Helper()
	s := must[session.SendStream](t)(from.OpenUniStream())
	if err := s.TryWrite([]byte("hello ")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write([]byte("world")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r := must[session.ReceiveStream](t)(to.AcceptUniStream(t.Context()))
	if got := string(must[[]byte](t)(io.ReadAll(r))); got != "hello world" {
		t.Errorf("read %q", got)
	}
}

func testBidi(t *testing.T, from, to *Conn) {
	t.Helper()
	a := must[session.Stream](t)(from.OpenStream(t.Context()))
	must[int](t)(a.Write([]byte("ping")))
	b := must[session.Stream](t)(to.AcceptStream(t.Context()))
	buf := make([]byte, 10)
	n := must[int](t)(b.Read(buf))
	must[int](t)(b.Write(bytes.ToUpper(buf[:n])))
	_ = b.Close()
	_ = a.Close()
	if got := string(must[[]byte](t)(io.ReadAll(a))); got != "PING" {
		t.Errorf("read %q", got)
	}
	if n, err := b.Read(buf); n != 0 || err != io.EOF {
		t.Errorf("Read = %d, %v, want EOF", n, err)
	}
}

func TestCloseCode(t *testing.T) {
	inBubbles(t, versions, func(t *testing.T, cfg Config) {
		client, server := newPair(t, cfg, cfg)
		server.Close(567, "full; retry-ms=2000")
		server.Close(session.CodeInternal, "too late")
		<-client.Context().Done()
		for c, remote := range map[*Conn]bool{client: true, server: false} {
			var ce *session.CloseError
			if !errors.As(context.Cause(c.Context()), &ce) || ce.Code != 567 || ce.Reason != "full; retry-ms=2000" || ce.Remote != remote {
				t.Errorf("cause = %#v, want code 567, remote %t", context.Cause(c.Context()), remote)
			}
		}
		if _, err := client.OpenUniStream(); !errors.As(err, new(*session.CloseError)) {
			t.Errorf("OpenUniStream after the end: %v", err)
		}
		if _, err := client.AcceptStream(t.Context()); !errors.As(err, new(*session.CloseError)) {
			t.Errorf("AcceptStream after the end: %v", err)
		}
	})
}

// What came before the close is still read: a publisher may finish and leave.
func TestReadAfterClose(t *testing.T) {
	inBubbles(t, versions, func(t *testing.T, cfg Config) {
		client, server := newPair(t, cfg, cfg)
		s := must[session.SendStream](t)(client.OpenUniStream())
		must[int](t)(s.Write([]byte("last words")))
		_ = s.Close()
		open := must[session.SendStream](t)(client.OpenUniStream())
		must[int](t)(open.Write([]byte("cut")))
		synctest.Wait()
		client.Close(session.CodeNoError, "")
		<-server.Context().Done()
		r := must[session.ReceiveStream](t)(server.AcceptUniStream(t.Context()))
		if got := string(must[[]byte](t)(io.ReadAll(r))); got != "last words" {
			t.Errorf("read %q", got)
		}
		r = must[session.ReceiveStream](t)(server.AcceptUniStream(t.Context()))
		if got, err := io.ReadAll(r); string(got) != "cut" || !errors.As(err, new(*session.CloseError)) {
			t.Errorf("read %q, %v, want an error for a stream without FIN", got, err)
		}
	})
}

func TestRunEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pa, pb := newPipes()
		c := New(pa, Config{Version: wire.V01})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- c.Run(ctx) }()
		cancel()
		peer := &rawPeer{t, wire.V01, pb}
		if got := peer.expect(wire.TypeApplicationClose).(wire.Close); got.Code != 0 {
			t.Errorf("close frame = %+v", got)
		}
		if err := <-done; !errors.As(err, new(*session.CloseError)) {
			t.Errorf("Run = %v", err)
		}
	})
}

func TestPipeFails(t *testing.T) {
	inBubbles(t, versions, func(t *testing.T, cfg Config) {
		c, peer := newRaw(t, cfg)
		_ = peer.pipe.Close(nil)
		<-c.Context().Done()
		if err := context.Cause(c.Context()); errors.As(err, new(*session.CloseError)) {
			t.Errorf("cause = %v, want the pipe's error", err)
		}
	})
}

func TestHandshakeTimeout(t *testing.T) {
	inBubbles(t, []wire.Version{wire.V00, wire.V01, wire.V02}, func(t *testing.T, cfg Config) {
		c, peer := newRaw(t, cfg)
		peer.expect(wire.TypeParameters)
		begin := time.Now()
		if err := c.Ready(t.Context()); !errors.Is(err, ErrHandshake) || time.Since(begin) != 10*time.Second {
			t.Errorf("Ready = %v after %v, want %v after 10s", err, time.Since(begin), ErrHandshake)
		}
	})
}

// "Idle: smallest non-zero of both max_idle_timeout; any receive restarts." (§2.6.4)
func TestIdleTimeout(t *testing.T) {
	tests := []struct{ peer, want time.Duration }{{0, 30 * time.Second}, {12 * time.Second, 12 * time.Second}, {time.Minute, 30 * time.Second}}
	for _, tt := range tests {
		t.Run(tt.peer.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, peer := newRaw(t, Config{Version: wire.V01})
				params := generous
				params.MaxIdleTimeout = tt.peer
				peer.greet(params)
				time.Sleep(tt.want - time.Second)
				peer.sendBytes([]byte{0}) // PADDING
				begin := time.Now()
				go drain(peer.pipe)
				<-c.Context().Done()
				// One send after the last receipt restarts the time as well.
				ping := min(5*time.Second, tt.want/3)
				if err, took := context.Cause(c.Context()), time.Since(begin); !errors.Is(err, ErrIdle) || took < tt.want || took > tt.want+ping {
					t.Errorf("ended after %v with %v, want idle after %v", took, err, tt.want)
				}
			})
		})
	}
}

func drain(p *fakePipe) {
	for {
		if _, err := p.ReadMessage(); err != nil {
			return
		}
	}
}

func TestQuietConnectionLives(t *testing.T) {
	inBubbles(t, versions, func(t *testing.T, cfg Config) {
		client, server := newPair(t, cfg, cfg)
		time.Sleep(10 * time.Minute)
		if client.Context().Err() != nil || server.Context().Err() != nil {
			t.Fatalf("ended: %v", context.Cause(client.Context()))
		}
		testUni(t, client, server)
	})
}

func TestRTT(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := newRaw(t, Config{Version: wire.V02})
		peer.greet(generous)
		ping := peer.expect(wire.TypePingRequest).(wire.Ping)
		time.Sleep(40 * time.Millisecond)
		peer.send(wire.Ping{Response: true, Sequence: ping.Sequence})
		synctest.Wait()
		if got := c.Stats(); got.RTT != 40*time.Millisecond || got.MinRTT != got.RTT || got.BytesSent == 0 || got.BytesReceived == 0 {
			t.Errorf("Stats = %+v, want a round trip of 40ms", got)
		}
	})
}

func TestPingAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, peer := newRaw(t, Config{Version: wire.V02})
		peer.greet(generous)
		peer.send(wire.Ping{Sequence: 7})
		if got := peer.expect(wire.TypePingResponse).(wire.Ping); got.Sequence != 7 {
			t.Errorf("answer = %+v", got)
		}
	})
}

func TestDatagrams(t *testing.T) {
	inBubbles(t, []wire.Version{wire.V01, wire.V02}, func(t *testing.T, cfg Config) {
		client, server := newPair(t, cfg, cfg)
		if err := client.SendDatagram([]byte("quick")); err != nil {
			t.Fatal(err)
		}
		if got := must[[]byte](t)(server.ReceiveDatagram(t.Context())); string(got) != "quick" {
			t.Errorf("datagram %q", got)
		}
		if err := client.SendDatagram(make([]byte, wire.MaxRecord)); !errors.Is(err, session.ErrDatagramDropped) {
			t.Errorf("datagram above the record: %v", err)
		}
		for i := range 2 * maxDatagrams { // nobody reads: the oldest make way
			_ = client.SendDatagram([]byte{byte(i)})
			synctest.Wait()
		}
		if got := must[[]byte](t)(server.ReceiveDatagram(t.Context())); got[0] != maxDatagrams {
			t.Errorf("first datagram left is %d, want %d", got[0], maxDatagrams)
		}
		if got := server.DatagramsDropped(); got != maxDatagrams {
			t.Errorf("dropped %d, want %d", got, maxDatagrams)
		}
	})
	inBubbles(t, []wire.Version{wire.Legacy, wire.V00}, func(t *testing.T, cfg Config) {
		client, _ := newPair(t, cfg, cfg)
		if err := client.SendDatagram([]byte("quick")); !errors.Is(err, session.ErrDatagramDropped) {
			t.Errorf("SendDatagram = %v", err)
		}
	})
}
