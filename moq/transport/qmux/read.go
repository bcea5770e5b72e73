package qmux

import (
	"errors"
	"fmt"
	"io"
	"time"

	wire "github.com/moqmesh/moqmesh/moq/wire/qmux"
)

// readLoop is the one reader of the pipe. It reads on after the connection
// ended, so that the peer can get rid of what it sends and close in peace.
func (c *Conn) readLoop() {
	for {
		message, err := c.pipe.ReadMessage()
		if err != nil {
			c.finish(fmt.Errorf("read: %w", err), nil)
			return
		}
		c.bytesReceived.Add(uint64(len(message)))
		c.receive(message)
	}
}

// receive acts on one message.
func (c *Conn) receive(message []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live.received(time.Now())
	r := wire.NewReader(c.cfg.Version, message)
	for !c.ended {
		typ, err := r.Next()
		if err == io.EOF {
			return
		}
		if err == nil {
			err = c.receiveFrameLocked(&r, typ)
		}
		var broken *ViolationError
		switch {
		case err == nil:
		case errors.As(err, &broken):
			c.violateLocked(broken)
		default:
			c.violateLocked(violation(Malformed, "%v", err))
		}
	}
}

// receiveFrameLocked decodes a frame and acts on it. Errors of the codec are
// returned as they are.
func (c *Conn) receiveFrameLocked(r *wire.Reader, typ wire.Type) error {
	if c.peer == nil && c.cfg.Version == wire.V02 && typ != wire.TypeParameters {
		return violation(BadParameters, "first frame is of type %#x", uint64(typ))
	}
	switch typ {
	case wire.TypeStream:
		return receive(r.Stream, c.receiveStreamLocked)
	case wire.TypeResetStream:
		return receive(r.ResetStream, c.receiveResetLocked)
	case wire.TypeResetStreamAt:
		return violation(StreamState, "RESET_STREAM_AT without our leave")
	case wire.TypeStopSending:
		return receive(r.StopSending, c.receiveStopLocked)
	case wire.TypeMaxData:
		return receive(r.MaxData, c.receiveMaxDataLocked)
	case wire.TypeMaxStreamData:
		return receive(r.MaxStreamData, c.receiveMaxStreamDataLocked)
	case wire.TypeMaxStreamsBidi, wire.TypeMaxStreamsUni:
		return receive(r.MaxStreams, c.receiveMaxStreamsLocked)
	case wire.TypeConnectionClose, wire.TypeApplicationClose:
		return receive(r.Close, c.receiveCloseLocked)
	case wire.TypeDatagram:
		return receive(r.Datagram, c.receiveDatagramLocked)
	case wire.TypePingRequest, wire.TypePingResponse:
		return receive(r.Ping, c.receivePingLocked)
	case wire.TypeParameters:
		return receive(r.Parameters, c.receiveParametersLocked)
	}
	return violation(Malformed, "frame type %#x", uint64(typ))
}

// receive hands a decoded frame on.
func receive[F any](decode func() (F, error), act func(F) error) error {
	f, err := decode()
	if err != nil {
		return err
	}
	return act(f)
}

func (c *Conn) receiveStreamLocked(f wire.Stream) error {
	s, err := c.recvLocked(f.ID)
	if err != nil {
		return err
	}
	n := uint64(len(f.Data))
	if !c.window.take(n) {
		return c.overrun(FlowControl, "%d bytes more on stream %d than the connection's window", n, f.ID)
	}
	if s == nil || s.err != nil { // over for us, but its bytes were counted
		c.releaseLocked(n)
		return nil
	}
	return s.receiveLocked(f)
}

func (c *Conn) receiveResetLocked(f wire.ResetStream) error {
	s, err := c.recvLocked(f.ID)
	if err != nil || s == nil {
		return err
	}
	return s.receiveResetLocked(f)
}

func (c *Conn) receiveStopLocked(f wire.StopSending) error {
	s, err := c.sendLocked(f.ID)
	if err != nil || s == nil {
		return err
	}
	err = remoteStreamError(f.Code)
	s.resetLocked(f.Code, err)
	return nil
}

func (c *Conn) receiveMaxDataLocked(f wire.MaxData) error {
	c.credit.raise(f.Max)
	c.writable.Broadcast()
	return nil
}

func (c *Conn) receiveMaxStreamDataLocked(f wire.MaxStreamData) error {
	s, err := c.sendLocked(f.ID)
	if err != nil || s == nil {
		return err
	}
	s.credit.raise(f.Max)
	c.writable.Broadcast()
	return nil
}

func (c *Conn) receiveMaxStreamsLocked(f wire.MaxStreams) error {
	k := bidi
	if f.Uni {
		k = uni
	}
	if f.Max > maxStreamIndex {
		return violation(StreamLimit, "MAX_STREAMS %d", f.Max)
	}
	c.openLimit[k] = max(c.openLimit[k], f.Max)
	c.retryOpenLocked()
	return nil
}

func (c *Conn) receiveCloseLocked(f wire.Close) error {
	if f.Application {
		c.finishLocked(remoteCloseError(f.Code, f.Reason), nil)
	} else {
		c.finishLocked(&RemoteError{Code: f.Code, Reason: f.Reason}, nil)
	}
	return nil
}

// receivePingLocked keeps one answer at most, the newest: pings cost a peer
// more than they cost us. Only qmux-02 orders them.
func (c *Conn) receivePingLocked(f wire.Ping) error {
	strict := c.cfg.Version == wire.V02
	if f.Response {
		if !c.live.pong(time.Now(), f.Sequence) && strict {
			return violation(BadPing, "answer to ping %d, sent %d", f.Sequence, c.live.sequence)
		}
		return nil
	}
	if strict && f.Sequence <= c.pongSeq && c.pongSeq > 0 {
		return violation(BadPing, "ping %d after %d", f.Sequence, c.pongSeq)
	}
	c.pongDue, c.pongSeq = true, f.Sequence
	c.wakeWriterLocked()
	return nil
}

func (c *Conn) receiveParametersLocked(p wire.Parameters) error {
	switch {
	case c.peer != nil && c.cfg.Version == wire.V02:
		return violation(BadParameters, "sent twice")
	case c.peer != nil:
		return nil
	case p.MaxRecord != 0 && p.MaxRecord < wire.MaxRecord:
		return violation(BadParameters, "max_record_size %d", p.MaxRecord)
	case p.MaxStreamsBidi > maxStreamIndex || p.MaxStreamsUni > maxStreamIndex:
		return violation(BadParameters, "initial_max_streams %d, %d", p.MaxStreamsBidi, p.MaxStreamsUni)
	case p.ApplicationProtocols != nil:
		return violation(BadParameters, "application_protocols on a channel that negotiated before")
	}
	c.setPeerLocked(p)
	return nil
}

// setPeerLocked takes the peer's grants into use.
func (c *Conn) setPeerLocked(p wire.Parameters) {
	c.peer = &p
	c.openLimit[bidi] = max(c.openLimit[bidi], p.MaxStreamsBidi)
	c.openLimit[uni] = max(c.openLimit[uni], p.MaxStreamsUni)
	c.credit.raise(p.MaxData)
	for id, s := range c.sends {
		s.credit.raise(sendLimit(&p, id, c.ours(id)))
	}
	c.live.handshake = time.Time{}
	if c.cfg.Version.Records() {
		c.setTimersLocked(p.MaxIdleTimeout)
	}
	close(c.ready)
	c.writable.Broadcast()
	c.retryOpenLocked()
	select {
	case c.tend <- struct{}{}:
	default:
	}
}

// setTimersLocked agrees on the idle timeout: the smaller one that is not 0.
func (c *Conn) setTimersLocked(peerIdle time.Duration) {
	if peerIdle > 0 {
		c.live.idle = min(c.live.idle, peerIdle)
	}
	c.live.ping = min(c.cfg.PingInterval, c.live.idle/3)
}

// overrun is a peer's sending more than there is room for: a breach where it
// knew the limit.
func (c *Conn) overrun(v Violation, format string, args ...any) error {
	if c.cfg.Version == wire.Legacy {
		v = Overrun
	}
	return violation(v, format, args...)
}
