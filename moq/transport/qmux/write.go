package qmux

import (
	"fmt"
	"time"

	wire "github.com/moqmesh/moqmesh/moq/wire/qmux"
)

const (
	// maxControl bounds any frame but STREAM, DATAGRAM and close, in bytes.
	maxControl = 32
	// minFragment is the least stream data worth splitting off for the rest of a record.
	minFragment = 64
)

// writeLoop is the one writer of the pipe.
func (c *Conn) writeLoop() {
	buf := make([]byte, 0, wire.MaxRecord)
	for {
		message, over := c.nextMessage(buf)
		switch {
		case len(message) > 0:
			if err := c.pipe.WriteMessage(message); err != nil {
				c.finish(fmt.Errorf("write: %w", err), nil)
				return
			}
			c.bytesSent.Add(uint64(len(message)))
		case over:
			return
		default:
			<-c.work
		}
	}
}

// nextMessage fills buf with what is most urgent. over means that nothing will
// follow an empty message.
func (c *Conn) nextMessage(buf []byte) (message []byte, over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		if c.last != nil {
			buf = c.last.Append(buf, c.cfg.Version)
			c.last = nil
		}
		return buf, true
	}
	for {
		n := len(buf)
		buf = c.appendFrameLocked(buf)
		if len(buf) == n || !c.cfg.Version.Records() {
			break
		}
	}
	if len(buf) > 0 {
		c.live.sent(time.Now())
	}
	return buf, false
}

// appendFrameLocked appends the next frame, or nothing if there is none or the
// record has no room for it. Stops go before the slots they free: a peer that
// reads nothing gets no new slots, so the list of stops stays bounded.
func (c *Conn) appendFrameLocked(b []byte) []byte {
	n := len(b)
	if !c.announced {
		c.announced = true
		return c.cfg.parameters().Append(b, c.cfg.Version)
	}
	if wire.MaxRecord-n < maxControl {
		return b
	}
	if b = c.appendPingLocked(b); len(b) > n {
		return b
	}
	if b = c.appendStreamControlLocked(b); len(b) > n {
		return b
	}
	if b = c.appendGrantLocked(b); len(b) > n {
		return b
	}
	if len(c.outbox) > 0 {
		return c.appendDatagramLocked(b)
	}
	return c.appendDataLocked(b)
}

func (c *Conn) appendPingLocked(b []byte) []byte {
	switch {
	case c.pongDue:
		c.pongDue = false
		return wire.Ping{Response: true, Sequence: c.pongSeq}.Append(b, c.cfg.Version)
	case c.pingDue:
		c.pingDue = false
		return wire.Ping{Sequence: c.live.startPing(time.Now())}.Append(b, c.cfg.Version)
	}
	return b
}

// appendStreamControlLocked appends a RESET_STREAM or STOP_SENDING.
func (c *Conn) appendStreamControlLocked(b []byte) []byte {
	if s, ok := pop(&c.resets); ok {
		b = wire.ResetStream{ID: s.id, Code: s.resetCode, FinalSize: s.sent}.Append(b, c.cfg.Version)
		c.dropSendLocked(s)
		return b
	}
	if s, ok := pop(&c.stops); ok {
		return wire.StopSending{ID: s.id, Code: s.stopCode}.Append(b, c.cfg.Version)
	}
	return b
}

// appendGrantLocked appends a MAX_DATA, MAX_STREAMS or MAX_STREAM_DATA.
func (c *Conn) appendGrantLocked(b []byte) []byte {
	if c.window.due() {
		return wire.MaxData{Max: c.window.grant()}.Append(b, c.cfg.Version)
	}
	for k := range c.freed {
		if c.freed[k] == 0 {
			continue
		}
		c.peerLimit[k] += c.freed[k]
		c.freed[k] = 0
		return wire.MaxStreams{Uni: kind(k) == uni, Max: c.peerLimit[k]}.Append(b, c.cfg.Version)
	}
	for {
		s, ok := pop(&c.grants)
		if !ok {
			return b
		}
		s.granting = false
		if !s.over() {
			return wire.MaxStreamData{ID: s.id, Max: s.window.grant()}.Append(b, c.cfg.Version)
		}
	}
}

// appendDataLocked appends a STREAM frame of the stream whose turn it is.
func (c *Conn) appendDataLocked(b []byte) []byte {
	s := c.schedule.front()
	if s == nil {
		return b
	}
	data := s.pending()
	n := min(len(data), wire.MaxRecord-len(b)-wire.MaxStreamHeader, wire.MaxStreamPayload)
	if n < len(data) && n < minFragment {
		return b // the next record has room for more
	}
	fin := s.closed && n == len(data)
	b = wire.AppendStreamHeader(b, c.cfg.Version, s.id, s.sent, n, fin)
	b = append(b, data[:n]...)
	s.consume(n)
	c.dequeuedLocked(n)
	switch {
	case fin:
		c.schedule.remove(s)
		c.dropSendLocked(s)
	case n == len(data):
		c.schedule.remove(s)
	default:
		c.schedule.rotate(s)
	}
	return b
}

// dequeuedLocked tells those who wait that the queue has room again, once it
// is worth their while.
func (c *Conn) dequeuedLocked(n int) {
	c.queued -= n
	if c.queued <= c.cfg.QueueBytes/4 {
		c.writable.Broadcast()
	}
}

// pop takes the first entry of a list.
func pop[T any](list *[]*T) (*T, bool) {
	if len(*list) == 0 {
		*list = nil // let the array go
		return nil, false
	}
	first := (*list)[0]
	(*list)[0] = nil
	*list = (*list)[1:]
	return first, true
}
