package qmux

import (
	"context"
	"errors"

	"github.com/moqmesh/moqmesh/moq/session"
)

// sendStream is the sending half of a stream. Conn.mu guards it.
type sendStream struct {
	c  *Conn
	id uint64

	buf    []byte     // queued, from head on not yet sent
	head   int        //
	sent   uint64     // bytes in frames so far
	credit sendCredit // of this stream

	closed    bool   // FIN follows what is queued
	err       error  // why writing fails; set by Reset and STOP_SENDING
	resetCode uint64 // of the RESET_STREAM to send, with err

	urgency    int8
	waiting    bool // in the schedule, whose links these are
	prev, next *sendStream

	ctx    context.Context // made when asked for
	cancel context.CancelCauseFunc
}

var errWriteAfterClose = errors.New("write after close")

// maxKeptBuffer is the largest drained buffer that a stream keeps, in bytes.
const maxKeptBuffer = 64 << 10

// Write implements [session.SendStream].
func (s *sendStream) Write(p []byte) (int, error) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	n := 0
	for {
		if err := s.writeErrLocked(); err != nil {
			return n, err
		}
		room := s.roomLocked(s.c.cfg.QueueBytes / 2)
		if room > 0 {
			k := min(room, len(p)-n)
			s.queueLocked(p[n : n+k])
			n += k
		}
		if n == len(p) {
			return n, nil
		}
		s.c.writable.Wait()
	}
}

// TryWrite implements [session.SendStream]. More than Config.QueueBytes never fits.
func (s *sendStream) TryWrite(p []byte) error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if err := s.writeErrLocked(); err != nil {
		return err
	}
	if len(p) > s.roomLocked(s.c.cfg.QueueBytes) {
		return session.ErrNoCredit
	}
	s.queueLocked(p)
	return nil
}

func (s *sendStream) writeErrLocked() error {
	switch {
	case s.err != nil:
		return s.err
	case s.c.ended:
		return context.Cause(s.c.ctx)
	case s.closed:
		return errWriteAfterClose
	}
	return nil
}

// roomLocked is how many bytes may be queued, at most queue on all streams together.
func (s *sendStream) roomLocked(queue int) int {
	space := max(queue-s.c.queued, 0)
	return int(min(s.credit.room(), s.c.credit.room(), uint64(space)))
}

func (s *sendStream) queueLocked(p []byte) {
	if len(p) == 0 {
		return
	}
	s.buf = append(s.buf, p...)
	n := len(p)
	s.credit.used += uint64(n)
	s.c.credit.used += uint64(n)
	s.c.queued += n
	s.c.schedule.add(s)
	s.c.wakeWriterLocked()
}

// pending is what is queued.
func (s *sendStream) pending() []byte { return s.buf[s.head:] }

// consume takes n bytes off the queue.
func (s *sendStream) consume(n int) {
	s.head += n
	s.sent += uint64(n)
	if s.head < len(s.buf) {
		return
	}
	s.head, s.buf = 0, s.buf[:0]
	if cap(s.buf) > maxKeptBuffer {
		s.buf = nil
	}
}

// Close implements [session.SendStream].
func (s *sendStream) Close() error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if err := s.writeErrLocked(); err != nil {
		return err
	}
	s.closed = true
	s.endContextLocked(nil)
	s.c.schedule.add(s)
	s.c.wakeWriterLocked()
	return nil
}

// Reset implements [session.SendStream].
func (s *sendStream) Reset(code session.StreamCode) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.resetLocked(uint64(code), localStreamError(code))
}

// resetLocked drops what is queued, gives its credit back and has a
// RESET_STREAM sent, unless the stream is over: FIN sent, or reset before.
func (s *sendStream) resetLocked(code uint64, err error) {
	if s.err != nil || s.c.ended || s.c.sends[s.id] != s {
		return
	}
	s.err, s.resetCode = err, code
	n := len(s.pending())
	s.credit.used -= uint64(n)
	s.c.credit.used -= uint64(n)
	s.c.queued -= n
	s.buf, s.head = nil, 0
	s.c.schedule.remove(s)
	s.c.resets = append(s.c.resets, s)
	s.endContextLocked(err)
	s.c.writable.Broadcast()
	s.c.wakeWriterLocked()
}

// SetPriority implements [session.SendStream].
func (s *sendStream) SetPriority(urgency int8) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.c.schedule.rank(s, urgency)
}

// Context implements [session.SendStream].
func (s *sendStream) Context() context.Context {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.ctx == nil {
		s.ctx, s.cancel = context.WithCancelCause(s.c.ctx)
		if s.err != nil || s.closed {
			s.cancel(s.err)
		}
	}
	return s.ctx
}

func (s *sendStream) endContextLocked(cause error) {
	if s.cancel != nil {
		s.cancel(cause)
	}
}
