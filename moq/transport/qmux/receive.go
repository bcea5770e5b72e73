package qmux

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/moq/session"
	wire "github.com/moqmesh/moqmesh/moq/wire/qmux"
)

// recvStream is the receiving half of a stream. Conn.mu guards it.
type recvStream struct {
	c  *Conn
	id uint64

	buf  []byte // received, from head on not yet read; the window bounds it
	head int
	fin  bool
	err  error // reset by the peer, or stopped; nothing more is read

	window   recvWindow
	granting bool   // in Conn.grants
	stopCode uint64 // of the STOP_SENDING to send, with err
	done     bool   // the reader has seen the end

	readable sync.Cond
	deadline time.Time
	timer    *time.Timer // wakes the reader at deadline
}

// Read implements [session.ReceiveStream]. After the end of the connection it
// still returns what came before.
func (s *recvStream) Read(p []byte) (int, error) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	for {
		if n, err, ok := s.readLocked(p); ok {
			return n, err
		}
		s.readable.Wait()
	}
}

// readLocked is one attempt to read; ok is false when there is nothing to say yet.
func (s *recvStream) readLocked(p []byte) (n int, err error, ok bool) {
	switch {
	case s.err != nil:
		s.doneLocked()
		return 0, s.err, true
	case !s.deadline.IsZero() && !time.Now().Before(s.deadline):
		return 0, os.ErrDeadlineExceeded, true
	case s.unread() > 0 || len(p) == 0:
		n = copy(p, s.buf[s.head:])
		s.consumeLocked(n)
		return n, nil, true
	case s.fin:
		s.doneLocked()
		return 0, io.EOF, true
	case s.c.ended:
		return 0, context.Cause(s.c.ctx), true
	}
	return 0, nil, false
}

func (s *recvStream) unread() int { return len(s.buf) - s.head }

// consumeLocked takes n bytes off the buffer and returns their credit.
func (s *recvStream) consumeLocked(n int) {
	s.head += n
	if s.head == len(s.buf) {
		s.head, s.buf = 0, s.buf[:0]
		if cap(s.buf) > maxKeptBuffer {
			s.buf = nil
		}
	}
	s.c.releaseLocked(uint64(n))
	s.window.release(uint64(n))
	if !s.fin && s.c.grantSoonLocked(&s.window) && !s.granting {
		s.granting = true
		s.c.grants = append(s.c.grants, s)
	}
}

// over says that more credit for the stream would be pointless.
func (s *recvStream) over() bool { return s.fin || s.err != nil }

// receiveLocked takes in the data of a frame; the connection has counted it.
func (s *recvStream) receiveLocked(f wire.Stream) error {
	n := uint64(len(f.Data))
	if s.fin && n > 0 {
		return violation(StreamState, "data after the end of stream %d", s.id)
	}
	if !s.window.take(n) {
		return s.c.overrun(FlowControl, "%d bytes more than the window of stream %d", n, s.id)
	}
	s.compact(len(f.Data))
	s.buf = append(s.buf, f.Data...)
	s.fin = s.fin || f.Fin
	s.readable.Broadcast()
	return nil
}

// compact moves what is unread to the front if that saves growing for n bytes more.
func (s *recvStream) compact(n int) {
	if s.head > 0 && len(s.buf)+n > cap(s.buf) {
		s.buf = s.buf[:copy(s.buf, s.buf[s.head:])]
		s.head = 0
	}
}

// receiveResetLocked ends the stream. Bytes that the peer counted and never
// sent are credited too: the larger of its size and ours holds.
func (s *recvStream) receiveResetLocked(f wire.ResetStream) error {
	if s.err != nil || s.fin && s.unread() == 0 {
		return nil
	}
	missing := max(f.FinalSize, s.window.used) - s.window.used
	if !s.c.window.take(missing) || !s.window.take(missing) {
		return s.c.overrun(FlowControl, "final size %d of stream %d is above its window", f.FinalSize, s.id)
	}
	s.dropLocked(remoteStreamError(f.Code), missing)
	return nil
}

// dropLocked ends the stream for err and returns the credit of what was not
// read and of missing bytes.
func (s *recvStream) dropLocked(err error, missing uint64) {
	unread := uint64(s.unread())
	s.err = err
	s.buf, s.head = nil, 0
	s.c.releaseLocked(unread + missing)
	s.readable.Broadcast()
}

// Stop implements [session.ReceiveStream].
func (s *recvStream) Stop(code session.StreamCode) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.done {
		return
	}
	if s.err == nil {
		if !s.fin && !s.c.ended {
			s.stopCode = uint64(code)
			s.c.stops = append(s.c.stops, s)
			s.c.wakeWriterLocked()
		}
		s.dropLocked(localStreamError(code), 0)
	}
	s.doneLocked()
}

// doneLocked says that the reader has seen the end. The stream is forgotten:
// what still comes for it is credited and dropped.
func (s *recvStream) doneLocked() {
	if s.done {
		return
	}
	s.done = true
	s.stopTimerLocked()
	s.c.dropRecvLocked(s)
}

// SetReadDeadline implements [session.ReceiveStream]. Read then returns
// os.ErrDeadlineExceeded; the zero time means never.
func (s *recvStream) SetReadDeadline(t time.Time) error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.stopTimerLocked()
	s.deadline = t
	if !t.IsZero() && !s.done {
		s.timer = time.AfterFunc(time.Until(t), s.wake)
	}
	s.readable.Broadcast()
	return nil
}

func (s *recvStream) stopTimerLocked() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}

func (s *recvStream) wake() {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.readable.Broadcast()
}
