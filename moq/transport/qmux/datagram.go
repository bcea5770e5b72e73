package qmux

import (
	"bytes"
	"context"

	"github.com/moqmesh/moqmesh/moq/session"
	wire "github.com/moqmesh/moqmesh/moq/wire/qmux"
)

// maxDatagrams bounds the datagrams queued in each direction.
const maxDatagrams = 64

// SendDatagram implements [session.Conn]. When the queue is full p is dropped.
func (c *Conn) SendDatagram(p []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return context.Cause(c.ctx)
	}
	size := uint64(wire.Datagram{Data: p}.Len())
	if c.peer == nil || size > min(c.peer.MaxDatagramFrame, wire.MaxRecord) || len(c.outbox) >= maxDatagrams ||
		!c.cfg.Version.Records() {
		c.datagramsDropped.Add(1)
		return session.ErrDatagramDropped
	}
	c.outbox = append(c.outbox, bytes.Clone(p))
	c.wakeWriterLocked()
	return nil
}

// appendDatagramLocked appends the first datagram if the record has room for it.
func (c *Conn) appendDatagramLocked(b []byte) []byte {
	d := wire.Datagram{Data: c.outbox[0]}
	if d.Len() > wire.MaxRecord-len(b) {
		return b
	}
	c.outbox[0] = nil
	c.outbox = c.outbox[1:]
	return d.Append(b, c.cfg.Version)
}

// receiveDatagramLocked queues a datagram; when nobody reads the oldest makes way.
func (c *Conn) receiveDatagramLocked(f wire.Datagram) error {
	p := bytes.Clone(f.Data)
	for {
		select {
		case c.datagrams <- p:
			return nil
		default:
		}
		select {
		case <-c.datagrams:
			c.datagramsDropped.Add(1)
		default:
		}
	}
}

// ReceiveDatagram implements [session.Conn].
func (c *Conn) ReceiveDatagram(ctx context.Context) ([]byte, error) {
	return accept(ctx, c.ctx, c.datagrams)
}

// DatagramsDropped returns how many datagrams were dropped so far for a full
// queue or for their size, both directions.
func (c *Conn) DatagramsDropped() uint64 { return c.datagramsDropped.Load() }
