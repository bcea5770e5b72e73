package qmux

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq/session"
	wire "github.com/moqmesh/moqmesh/moq/wire/qmux"
)

// idleConn is a connection nobody runs: what is queued stays, for nextMessage.
func idleConn(t testing.TB, cfg Config) *Conn {
	t.Helper()
	pa, _ := newPipes()
	c := New(pa, cfg)
	if cfg.Version != wire.Legacy {
		c.receive(generous.Append(nil, cfg.Version))
		c.nextMessage(nil) // our parameters
	}
	return c
}

// sent returns the STREAM frames of the next messages until there are no more.
func sent(t testing.TB, c *Conn) (messages [][]wire.Stream) {
	t.Helper()
	for {
		m, _ := c.nextMessage(nil)
		if len(m) == 0 {
			return messages
		}
		if len(m) > wire.MaxRecord {
			t.Fatalf("message of %d bytes", len(m))
		}
		r := wire.NewReader(c.cfg.Version, m)
		var frames []wire.Stream
		for {
			typ, err := r.Next()
			if err != nil {
				break
			}
			if typ != wire.TypeStream {
				t.Fatalf("frame type %#x", uint64(typ))
			}
			frames = append(frames, must[wire.Stream](t)(r.Stream()))
		}
		messages = append(messages, frames)
	}
}

func queueUni(t testing.TB, c *Conn, urgency int8, size int) session.SendStream {
	t.Helper()
	s := must[session.SendStream](t)(c.OpenUniStream())
	s.SetPriority(urgency)
	if err := s.TryWrite(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestUrgencyOrder(t *testing.T) {
	c := idleConn(t, Config{Version: wire.V00, Client: true})
	for _, urgency := range []int8{7, 3, 0, 3, 99, -5} {
		queueUni(t, c, urgency, 10)
	}
	late := queueUni(t, c, 7, 10) // ranked again while it waits
	late.SetPriority(1)
	var got []uint64
	for _, m := range sent(t, c) {
		got = append(got, m[0].ID>>2)
	}
	if want := []uint64{2, 5, 6, 1, 3, 0, 4}; !cmp.Equal(got, want) {
		t.Errorf("sent in order %v, want %v", got, want)
	}
}

func TestStreamsOfOneUrgencyTakeTurns(t *testing.T) {
	c := idleConn(t, Config{Version: wire.V01, Client: true})
	queueUni(t, c, 3, 40_000)
	queueUni(t, c, 3, 40_000)
	var got []uint64
	total := 0
	for _, m := range sent(t, c) {
		got = append(got, m[0].ID>>2)
		for _, f := range m {
			total += len(f.Data)
		}
	}
	if want := []uint64{0, 1, 0, 1, 0}; !cmp.Equal(got, want) || total != 80_000 {
		t.Errorf("%d bytes in order %v, want 80000 in %v", total, got, want)
	}
}

// Small frames share a message where the version allows it.
func TestCoalescing(t *testing.T) {
	for v, want := range map[wire.Version]int{wire.Legacy: 10, wire.V00: 10, wire.V01: 1, wire.V02: 1} {
		c := idleConn(t, Config{Version: v, Client: true})
		for range 10 {
			_ = queueUni(t, c, 3, 300).Close()
		}
		messages := sent(t, c)
		if len(messages) != want {
			t.Errorf("%s: 10 streams in %d messages, want %d", v, len(messages), want)
		}
		for _, m := range messages {
			for _, f := range m {
				if !f.Fin || len(f.Data) != 300 {
					t.Errorf("%s: frame of %d bytes, FIN %t, want 300 with FIN", v, len(f.Data), f.Fin)
				}
			}
		}
		if len(c.sends) != 0 || c.queued != 0 {
			t.Errorf("%s: %d streams and %d bytes left", v, len(c.sends), c.queued)
		}
	}
}

// Control is sent before data, whatever waits.
func TestControlGoesFirst(t *testing.T) {
	c := idleConn(t, Config{Version: wire.V00, Client: true})
	queueUni(t, c, 0, 10)
	queueUni(t, c, 0, 10).Reset(session.StreamExpired)
	m, _ := c.nextMessage(nil)
	r := wire.NewReader(wire.V00, m)
	if typ, err := r.Next(); typ != wire.TypeResetStream || err != nil {
		t.Errorf("first frame %#x, %v", uint64(typ), err)
	}
}

// A peer that reads nothing holds up its own writers and nobody else.
func TestStuckPeer(t *testing.T) {
	inBubbles(t, versions, func(t *testing.T, cfg Config) {
		cfg.QueueBytes = 100_000
		stuck, peer := newRaw(t, cfg)
		if cfg.Version != wire.Legacy {
			peer.send(generous)
		}
		if err := stuck.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		bulk := must[session.SendStream](t)(stuck.OpenUniStream())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := bulk.Write(make([]byte, 1<<20)); err == nil {
				t.Error("Write of 1 MiB went through")
			}
		})
		synctest.Wait() // writer and bulk are stuck
		small := must[session.SendStream](t)(stuck.OpenUniStream())
		if err := small.TryWrite(make([]byte, 10_000)); err != nil {
			t.Errorf("bulk data left no room: %v", err)
		}
		for range 20 {
			if err := small.TryWrite(make([]byte, 10_000)); err != nil {
				if !errors.Is(err, session.ErrNoCredit) {
					t.Errorf("TryWrite = %v", err)
				}
				break
			}
		}
		stuck.mu.Lock()
		if stuck.queued > cfg.QueueBytes {
			t.Errorf("%d bytes queued, bound %d", stuck.queued, cfg.QueueBytes)
		}
		stuck.mu.Unlock()
		small.Reset(session.StreamTooFarBehind)
		begin := time.Now()
		stuck.Close(session.CodeNoError, "")
		wg.Wait()
		if took := time.Since(begin); took != 0 {
			t.Errorf("Write ended %v after Close", took)
		}
	})
}

// A peer that grants streams for ever and reads nothing gets a bounded number.
func TestOpenIsBounded(t *testing.T) {
	endless := generous
	endless.MaxStreamsUni = 1 << 50
	pa, _ := newPipes()
	c := New(pa, Config{Version: wire.V01})
	c.receive(endless.Append(nil, wire.V01))
	for range maxSends {
		s := must[session.SendStream](t)(c.OpenUniStream())
		s.Reset(session.StreamCancelled)
	}
	if _, err := c.OpenUniStream(); err != session.ErrNoCredit {
		t.Errorf("OpenUniStream = %v", err)
	}
	c.nextMessage(nil)
	must[session.SendStream](t)(c.OpenUniStream())
}

func TestWriteAfterEnd(t *testing.T) {
	c := idleConn(t, Config{Version: wire.V01})
	s := queueUni(t, c, 3, 10)
	ctx := s.(*sendStream).Context()
	if err := s.Close(); err != nil || ctx.Err() == nil {
		t.Errorf("Close = %v, context %v", err, ctx.Err())
	}
	if err := s.TryWrite([]byte("x")); !errors.Is(err, errWriteAfterClose) {
		t.Errorf("TryWrite after Close = %v", err)
	}
	if err := s.Close(); !errors.Is(err, errWriteAfterClose) {
		t.Errorf("second Close = %v", err)
	}
	sent(t, c)
	s.Reset(session.StreamCancelled) // after the FIN: nothing to abandon
	if m, _ := c.nextMessage(nil); len(m) != 0 {
		t.Errorf("sent %x after the FIN", m)
	}
}

func BenchmarkTryWriteUni(b *testing.B) {
	for _, v := range versions {
		b.Run(v.String(), func(b *testing.B) {
			pa, pb := newPipes()
			c := New(pa, Config{Version: v, Client: true})
			start(b, c)
			peer := &rawPeer{b, v, pb}
			if v != wire.Legacy {
				endless := unlimited
				peer.send(endless)
			}
			go drain(pb)
			if err := c.Ready(b.Context()); err != nil {
				b.Fatal(err)
			}
			p := make([]byte, 300)
			b.ReportAllocs()
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				s, err := c.OpenUniStream()
				for err != nil { // the writer is behind
					s, err = c.OpenUniStream()
				}
				if s.TryWrite(p) == session.ErrNoCredit {
					if _, err := s.Write(p); err != nil {
						b.Fatal(err)
					}
				}
				_ = s.Close()
			}
			_ = pb.Close(nil)
		})
	}
}
