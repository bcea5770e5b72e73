package qmux

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/moq/session"
	wire "github.com/moqmesh/moqmesh/moq/wire/qmux"
)

var withCredit = []wire.Version{wire.V00, wire.V01, wire.V02}

func TestStreamWindowStalls(t *testing.T) {
	inBubbles(t, withCredit, func(t *testing.T, cfg Config) {
		cfg.StreamWindow = 1000
		client, server := newPair(t, cfg, cfg)
		s := must[session.SendStream](t)(client.OpenUniStream())
		if err := s.TryWrite(make([]byte, 1001)); err != session.ErrNoCredit {
			t.Errorf("TryWrite above the window: %v", err)
		}
		if err := s.TryWrite(make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		if err := s.TryWrite([]byte{1}); err != session.ErrNoCredit {
			t.Errorf("TryWrite into a full window: %v", err)
		}
		r := must[session.ReceiveStream](t)(server.AcceptUniStream(t.Context()))
		must[int](t)(io.ReadFull(r, make([]byte, 500)))
		synctest.Wait()
		if err := s.TryWrite(make([]byte, 500)); err != nil {
			t.Errorf("TryWrite after 500 were read: %v", err)
		}
		if err := s.TryWrite([]byte{1}); err != session.ErrNoCredit {
			t.Errorf("TryWrite into a full window: %v", err)
		}
	})
}

// Write carries any amount through small windows, intact.
func TestWriteThroughSmallWindows(t *testing.T) {
	inBubbles(t, versions, func(t *testing.T, cfg Config) {
		cfg.StreamWindow, cfg.ConnWindow, cfg.QueueBytes = 5000, 9000, 4000
		if cfg.Version == wire.Legacy {
			cfg.ConnWindow = 0 // a peer without flow control takes what comes
		}
		client, server := newPair(t, cfg, cfg)
		data := make([]byte, 300_000)
		for i := range data {
			data[i] = byte(i * 7 / 3)
		}
		var wg sync.WaitGroup
		for range 3 {
			s := must[session.SendStream](t)(client.OpenUniStream())
			wg.Go(func() {
				if n, err := s.Write(data); n != len(data) || err != nil {
					t.Errorf("Write = %d, %v", n, err)
				}
				_ = s.Close()
			})
			wg.Go(func() {
				r := must[session.ReceiveStream](t)(server.AcceptUniStream(t.Context()))
				if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data) {
					t.Errorf("read %d bytes, %v, want %d equal ones", len(got), err, len(data))
				}
			})
		}
		wg.Wait()
	})
}

func TestStreamLimits(t *testing.T) {
	inBubbles(t, withCredit, func(t *testing.T, cfg Config) {
		client, server := newPair(t, cfg, cfg)
		for i := range 100 {
			s := must[session.SendStream](t)(client.OpenUniStream())
			if err := s.TryWrite([]byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
			_ = s.Close()
		}
		if _, err := client.OpenUniStream(); err != session.ErrNoCredit {
			t.Errorf("stream 101: %v", err)
		}
		r := must[session.ReceiveStream](t)(server.AcceptUniStream(t.Context()))
		must[[]byte](t)(io.ReadAll(r))
		synctest.Wait()
		must[session.SendStream](t)(client.OpenUniStream())
		if _, err := client.OpenUniStream(); err != session.ErrNoCredit {
			t.Errorf("stream 102 with one slot back: %v", err)
		}
	})
}

func TestOpenStreamWaits(t *testing.T) {
	inBubbles(t, withCredit, func(t *testing.T, cfg Config) {
		cfg.MaxStreams = 1
		client, server := newPair(t, cfg, cfg)
		first := must[session.Stream](t)(client.OpenStream(t.Context()))
		must[int](t)(first.Write([]byte("x")))
		_ = first.Close()
		opened := make(chan error)
		go func() {
			_, err := client.OpenStream(t.Context())
			opened <- err
		}()
		peer := must[session.Stream](t)(server.AcceptStream(t.Context()))
		must[[]byte](t)(io.ReadAll(peer))
		synctest.Wait()
		select {
		case err := <-opened:
			t.Fatalf("OpenStream = %v while the first is open in one direction", err)
		default:
		}
		_ = peer.Close()
		if err := <-opened; err != nil {
			t.Errorf("OpenStream = %v", err)
		}
	})
}

// Credit for the bytes of stopped streams comes back: a publisher whose viewers
// vanish mid-group must not hang.
func TestStoppedStreamsLeakNoCredit(t *testing.T) {
	inBubbles(t, versions, func(t *testing.T, cfg Config) {
		client, server := newPair(t, cfg, cfg)
		chunk := make([]byte, 20_000)
		for i := range 1000 {
			s := must[session.SendStream](t)(client.OpenUniStream())
			must[int](t)(s.Write(chunk))
			r := must[session.ReceiveStream](t)(server.AcceptUniStream(t.Context()))
			switch i % 3 {
			case 1:
				must[int](t)(io.ReadFull(r, make([]byte, 5000)))
			case 2:
				synctest.Wait()
			}
			r.Stop(session.StreamCancelled)
			for { // until the stop arrives
				if err := s.TryWrite(chunk[:100]); err != nil && err != session.ErrNoCredit {
					break
				}
				synctest.Wait()
			}
		}
		synctest.Wait()
		for name, c := range map[string]*Conn{"client": client, "server": server} {
			c.mu.Lock()
			if n := len(c.sends) + len(c.recvs) + len(c.stops) + len(c.resets) + len(c.grants) + c.queued; n != 0 {
				t.Errorf("%s holds %d sends, %d recvs, %d bytes", name, len(c.sends), len(c.recvs), c.queued)
			}
			c.mu.Unlock()
		}
		server.mu.Lock()
		used, free := server.window.used, server.window.limit+server.window.released-server.window.used
		server.mu.Unlock()
		if want := uint64(server.cfg.ConnWindow); free != want {
			t.Errorf("after %d bytes the peer has credit for %d, want all %d", used, free, want)
		}
		client.mu.Lock()
		defer client.mu.Unlock()
		if client.credit.used != used {
			t.Errorf("sender counts %d bytes, receiver %d", client.credit.used, used)
		}
	})
}

// "RESET final size: receiver credits max(final, received)." (§2.6.4)
func TestResetCreditsFinalSize(t *testing.T) {
	for _, final := range []uint64{0, 300, 900} {
		synctest.Test(t, func(t *testing.T) {
			c, peer := newRaw(t, Config{Version: wire.V01, ConnWindow: 1000})
			peer.greet(generous)
			peer.send(wire.Stream{ID: 2, Data: make([]byte, 300)}, wire.ResetStream{ID: 2, Code: 5, FinalSize: final})
			r := must[session.ReceiveStream](t)(c.AcceptUniStream(t.Context()))
			var se *session.StreamError
			if _, err := r.Read(make([]byte, 10)); !errors.As(err, &se) || se.Code != session.StreamTooFarBehind || !se.Remote || !se.Coded {
				t.Errorf("Read = %v", err)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if want := max(final, 300); c.window.used != want || c.window.limit+c.window.released-c.window.used != 1000 {
				t.Errorf("final size %d: window %+v, want %d used and all free", final, c.window, want)
			}
		})
	}
}

func TestResetReturnsQueuedCredit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pa, pb := newPipes() // not run: nothing leaves the queue
		_ = pb
		c := New(pa, Config{Version: wire.V01})
		c.receive(generous.Append(nil, wire.V01))
		s := must[session.SendStream](t)(c.OpenUniStream())
		if err := s.TryWrite(make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		s.Reset(session.StreamExpired)
		if c.credit.used != 0 || c.queued != 0 {
			t.Errorf("after the reset %d bytes of credit and %d of the queue are taken", c.credit.used, c.queued)
		}
		if err := s.TryWrite([]byte{1}); !errors.As(err, new(*session.StreamError)) {
			t.Errorf("TryWrite after Reset = %v", err)
		}
		m, _ := c.nextMessage(nil)
		want := wire.ResetStream{ID: 3, Code: 0x34}.Append(c.cfg.parameters().Append(nil, wire.V01), wire.V01)
		if !bytes.Equal(m, want) {
			t.Errorf("message = %x, want %x", m, want)
		}
	})
}

func TestStopEndsWriter(t *testing.T) {
	inBubbles(t, versions, func(t *testing.T, cfg Config) {
		client, server := newPair(t, cfg, cfg)
		s := must[session.Stream](t)(client.OpenStream(t.Context()))
		ctx := s.(*stream).Context()
		must[int](t)(s.Write([]byte("x")))
		peer := must[session.Stream](t)(server.AcceptStream(t.Context()))
		peer.Stop(session.StreamNotFound)
		<-ctx.Done()
		var se *session.StreamError
		if _, err := s.Write([]byte("y")); !errors.As(err, &se) || se.Code != session.StreamNotFound || !se.Remote {
			t.Errorf("Write = %v", err)
		}
		if _, err := peer.Read(make([]byte, 1)); !errors.As(err, &se) || se.Remote {
			t.Errorf("Read after Stop = %v", err)
		}
		must[int](t)(peer.Write([]byte("the other half lives")))
		must[int](t)(s.Read(make([]byte, 3)))
	})
}

func TestReadDeadline(t *testing.T) {
	inBubbles(t, versions, func(t *testing.T, cfg Config) {
		client, server := newPair(t, cfg, cfg)
		s := must[session.SendStream](t)(client.OpenUniStream())
		must[int](t)(s.Write([]byte("x")))
		r := must[session.ReceiveStream](t)(server.AcceptUniStream(t.Context()))
		must[int](t)(r.Read(make([]byte, 8)))
		begin := time.Now()
		_ = r.SetReadDeadline(begin.Add(time.Second))
		if _, err := r.Read(make([]byte, 8)); !isTimeout(err) || time.Since(begin) != time.Second {
			t.Errorf("Read = %v after %v", err, time.Since(begin))
		}
		_ = r.SetReadDeadline(time.Time{})
		must[int](t)(s.Write([]byte("y")))
		if n, err := r.Read(make([]byte, 8)); n != 1 || err != nil {
			t.Errorf("Read after the deadline was lifted = %d, %v", n, err)
		}
	})
}

func isTimeout(err error) bool {
	t, ok := err.(interface{ Timeout() bool })
	return ok && t.Timeout()
}

func TestWindow(t *testing.T) {
	w := recvWindow{limit: 900}
	if !w.take(300) || w.due() {
		t.Fatal("300 of 900, none read")
	}
	if w.release(300); w.due() {
		t.Error("due after exactly a third")
	}
	if !w.take(1) {
		t.Fatal("take")
	}
	if w.release(1); !w.due() || w.grant() != 1201 || w.due() {
		t.Errorf("after more than a third was read: %+v", w)
	}
	if w.take(901) || !w.take(900) {
		t.Error("the window is not 900 wide")
	}
}
