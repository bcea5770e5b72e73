package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/internal/simlink"
	"github.com/moqmesh/moqmesh/moq/session"
)

// eachScheme runs f in a bubble for raw QUIC and for WebTransport.
func eachScheme(t *testing.T, f func(t *testing.T, scheme string)) {
	t.Helper()
	for _, scheme := range schemes {
		t.Run(scheme, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, scheme) })
		})
	}
}

// TestStreamLimits: without stream credit OpenUniStream says so at once. A stream
// gives its credit back once it was read to its end or stopped, and not before (A64).
func TestStreamLimits(t *testing.T) {
	eachScheme(t, func(t *testing.T, scheme string) {
		conf := DefaultQUIC()
		conf.MaxIncomingUniStreams = 10
		p := join(t, scheme, simlink.Line{Delay: 10 * time.Millisecond}, conf)
		open := func() (n int) {
			for ; n < 100; n++ {
				s, err := p.client.OpenUniStream()
				if errors.Is(err, session.ErrNoCredit) {
					return n
				}
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Write([]byte("x")); err != nil {
					t.Fatal(err)
				}
				s.Close()
			}
			return n
		}
		first := open()
		if first < 6 || first > 10 { // HTTP/3 has streams of its own
			t.Fatalf("%d streams opened under a limit of 10", first)
		}
		time.Sleep(time.Second)
		if n := open(); n != 0 {
			t.Errorf("%d more streams, though none was read", n)
		}
		for i := range first {
			s, err := p.server.AcceptUniStream(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if i%2 == 0 {
				s.Stop(session.StreamCancelled)
			} else if b, err := io.ReadAll(s); err != nil || string(b) != "x" {
				t.Errorf("read %q, %v", b, err)
			}
		}
		time.Sleep(time.Second)
		if n := open(); n != first {
			t.Errorf("%d streams after %d were read or stopped", n, first)
		}
	})
}

// TestCloseDelivers: all that was written before Close arrives though packets are
// lost and though the cleanup behind it stops the other half (A65).
func TestCloseDelivers(t *testing.T) {
	eachScheme(t, func(t *testing.T, scheme string) {
		p := join(t, scheme, simlink.Line{Delay: 20 * time.Millisecond, Loss: 0.05}, nil)
		payload := bytes.Repeat([]byte("0123456789"), 10_000)
		const streams = 20
		type end struct {
			b   []byte
			err error
		}
		got := make(chan end, 2*streams)
		for range streams {
			uni, err := p.server.OpenUniStream()
			if err != nil {
				t.Fatal(err)
			}
			bidi, err := p.server.OpenStream(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range []session.SendStream{uni, bidi} {
				go func() {
					s.Write(payload)
					s.Close()
					if both, ok := s.(session.ReceiveStream); ok {
						both.Stop(session.StreamCancelled)
					}
				}()
			}
		}
		read := func(s session.ReceiveStream, err error) {
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				b, err := io.ReadAll(s)
				got <- end{b, err}
			}()
		}
		for range streams {
			read(p.client.AcceptUniStream(t.Context()))
			bidi, err := p.client.AcceptStream(t.Context())
			read(bidi, err)
		}
		for range 2 * streams {
			if e := <-got; e.err != nil || !bytes.Equal(e.b, payload) {
				t.Errorf("%d of %d bytes, %v", len(e.b), len(payload), e.err)
			}
		}
		if p.net.Dropped() < 50 {
			t.Errorf("only %d packets were lost", p.net.Dropped())
		}
	})
}

// TestDatagramsNeverBlock: whoever sends to a peer that does not answer is told
// that the datagram is dropped, and does not wait (A66).
func TestDatagramsNeverBlock(t *testing.T) {
	eachScheme(t, func(t *testing.T, scheme string) {
		p := join(t, scheme, simlink.Line{Delay: 10 * time.Millisecond}, nil)
		if err := p.server.SendDatagram([]byte("first")); err != nil {
			t.Fatal(err)
		}
		if b, err := p.client.ReceiveDatagram(t.Context()); err != nil || string(b) != "first" {
			t.Fatalf("received %q, %v", b, err)
		}
		p.line.Cut()
		start, dropped := time.Now(), 0
		for i := range 2000 {
			switch err := p.server.SendDatagram(fmt.Append(nil, i)); {
			case errors.Is(err, session.ErrDatagramDropped):
				dropped++
			case err != nil:
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("sending took %v, want no waiting", took)
		}
		if dropped < 1000 {
			t.Errorf("%d of 2000 datagrams dropped for a peer that is gone", dropped)
		}
		if err := p.server.SendDatagram(make([]byte, maxDatagram+1)); !errors.Is(err, session.ErrDatagramDropped) {
			t.Errorf("a datagram larger than any path: %v, want dropped", err)
		}
	})
}
