package qmux

import (
	"context"

	"github.com/moqmesh/moqmesh/moq/session"
	wire "github.com/moqmesh/moqmesh/moq/wire/qmux"
)

// stream is a bidirectional stream: two halves with one id.
type stream struct {
	sendStream
	recvStream
}

var (
	_ session.Stream        = (*stream)(nil)
	_ session.SendStream    = (*sendStream)(nil)
	_ session.ReceiveStream = (*recvStream)(nil)
)

// maxSends bounds the streams whose last frame is not written yet. A peer that
// grants streams without end and reads nothing gets no more of them.
const maxSends = 1 << 14

// OpenStream implements [session.Conn].
func (c *Conn) OpenStream(ctx context.Context) (session.Stream, error) {
	for {
		s, retry, err := c.openBidi()
		if err != nil {
			return nil, err
		}
		if s != nil {
			return s, nil
		}
		select {
		case <-retry:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-c.ctx.Done():
			return nil, context.Cause(c.ctx)
		}
	}
}

// openBidi opens a stream, or returns what to wait for.
func (c *Conn) openBidi() (*stream, <-chan struct{}, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return nil, nil, context.Cause(c.ctx)
	}
	if !c.mayOpenLocked(bidi) {
		if c.openWait == nil {
			c.openWait = make(chan struct{})
		}
		return nil, c.openWait, nil
	}
	id := c.openIDLocked(bidi)
	s := new(stream)
	c.addSendLocked(&s.sendStream, id)
	c.addRecvLocked(&s.recvStream, id)
	return s, nil, nil
}

// OpenUniStream implements [session.Conn].
func (c *Conn) OpenUniStream() (session.SendStream, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return nil, context.Cause(c.ctx)
	}
	if !c.mayOpenLocked(uni) {
		return nil, session.ErrNoCredit
	}
	s := new(sendStream)
	c.addSendLocked(s, c.openIDLocked(uni))
	return s, nil
}

func (c *Conn) mayOpenLocked(k kind) bool {
	return c.opened[k] < c.openLimit[k] && len(c.sends) < maxSends
}

func (c *Conn) openIDLocked(k kind) uint64 {
	id := streamID(k, c.opened[k], c.cfg.Client)
	c.opened[k]++
	return id
}

// retryOpenLocked lets those who wait in OpenStream try again.
func (c *Conn) retryOpenLocked() {
	if c.openWait != nil {
		close(c.openWait)
		c.openWait = nil
	}
}

// AcceptStream implements [session.Conn].
func (c *Conn) AcceptStream(ctx context.Context) (session.Stream, error) {
	s, err := accept(ctx, c.ctx, c.acceptBidi)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// AcceptUniStream implements [session.Conn].
func (c *Conn) AcceptUniStream(ctx context.Context) (session.ReceiveStream, error) {
	s, err := accept(ctx, c.ctx, c.acceptUni)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// accept takes from queue until ctx or the connection ends.
func accept[T any](ctx, conn context.Context, queue <-chan T) (v T, err error) {
	select {
	case v = <-queue: // what came before the end is still there to be had
		return v, nil
	default:
	}
	select {
	case v = <-queue:
		return v, nil
	case <-ctx.Done():
		return v, context.Cause(ctx)
	case <-conn.Done():
		return v, context.Cause(conn)
	}
}

func (c *Conn) addSendLocked(s *sendStream, id uint64) {
	s.c, s.id, s.urgency = c, id, defaultUrgency
	if c.peer != nil {
		s.credit.limit = sendLimit(c.peer, id, c.ours(id))
	}
	c.sends[id] = s
}

func (c *Conn) addRecvLocked(s *recvStream, id uint64) {
	s.c, s.id = c, id
	s.window.limit = uint64(c.cfg.StreamWindow)
	s.readable.L = &c.mu
	c.recvs[id] = s
}

// dropSendLocked forgets a sending half whose last frame is written.
func (c *Conn) dropSendLocked(s *sendStream) {
	delete(c.sends, s.id)
	c.freeLocked(s.id)
	c.retryOpenLocked()
}

// dropRecvLocked forgets a receiving half that its reader is done with.
func (c *Conn) dropRecvLocked(s *recvStream) {
	delete(c.recvs, s.id)
	c.freeLocked(s.id)
}

// freeLocked gives the slot of a stream back to the peer if it was the peer's
// and both halves are over.
func (c *Conn) freeLocked(id uint64) {
	if c.ours(id) || c.sends[id] != nil || c.recvs[id] != nil {
		return
	}
	k := kindOf(id)
	if c.cfg.Version == wire.Legacy {
		c.peerLimit[k]++
		return
	}
	c.freed[k]++
	c.wakeWriterLocked()
}

// recvLocked returns the receiving half that a frame is for, nil if it is over.
func (c *Conn) recvLocked(id uint64) (*recvStream, error) {
	if c.ours(id) && kindOf(id) == uni {
		return nil, violation(StreamState, "data on stream %d, which only we send on", id)
	}
	if err := c.knowLocked(id); err != nil {
		return nil, err
	}
	return c.recvs[id], nil
}

// sendLocked returns the sending half that a frame is for, nil if it is over.
func (c *Conn) sendLocked(id uint64) (*sendStream, error) {
	if !c.ours(id) && kindOf(id) == uni {
		return nil, violation(StreamState, "credit or stop on stream %d, which only the peer sends on", id)
	}
	if err := c.knowLocked(id); err != nil {
		return nil, err
	}
	return c.sends[id], nil
}

// knowLocked makes sure that stream id was opened at some time. The first frame
// of a peer's stream opens it and all of its kind below.
func (c *Conn) knowLocked(id uint64) error {
	k, index := kindOf(id), indexOf(id)
	if c.ours(id) {
		if index >= c.opened[k] {
			return violation(StreamState, "stream %d, which we never opened", id)
		}
		return nil
	}
	if index >= c.peerLimit[k] {
		return c.overrun(StreamLimit, "stream %d, limit %d of its kind", id, c.peerLimit[k])
	}
	for c.peerOpened[k] <= index {
		c.openedByPeerLocked(streamID(k, c.peerOpened[k], !c.cfg.Client))
		c.peerOpened[k]++
	}
	return nil
}

// openedByPeerLocked queues a new stream for Accept. The queue has room for as
// many as the peer may have open, and a slot is free again only after Accept.
func (c *Conn) openedByPeerLocked(id uint64) {
	if kindOf(id) == uni {
		s := new(recvStream)
		c.addRecvLocked(s, id)
		c.acceptUni <- s
		return
	}
	s := new(stream)
	c.addSendLocked(&s.sendStream, id)
	c.addRecvLocked(&s.recvStream, id)
	c.acceptBidi <- s
}

// releaseLocked returns n bytes of connection credit to the peer.
func (c *Conn) releaseLocked(n uint64) {
	c.window.release(n)
	c.grantSoonLocked(&c.window)
}

// grantSoonLocked has the writer announce a limit that is due. The legacy
// framing has no such frame: there the room is available at once.
func (c *Conn) grantSoonLocked(w *recvWindow) (due bool) {
	if c.cfg.Version == wire.Legacy {
		w.grant()
		return false
	}
	if due = w.due(); due {
		c.wakeWriterLocked()
	}
	return due
}
