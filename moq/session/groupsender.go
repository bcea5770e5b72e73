package session

import (
	"errors"
	"sync/atomic"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// inlineMax is the largest piece that is queued without a goroutine. quic-go
// keeps up to a packet of a stream in a pooled buffer; more would be copied
// again for each packet it is cut into.
const inlineMax = 1400

// groupSender copies one group onto its stream. It belongs to the sender's
// goroutine, except while busy: then to one that waits for the peer's credit.
type groupSender struct {
	v       *served
	stream  SendStream
	r       moq.GroupReader
	rest    []byte // taken from r and not written yet
	last    bool   // rest is the end of the group
	mixed   bool   // pieces are cut at frames and re-encoded for this peer
	until   int    // index of the last frame wanted; only where mixed
	piece   []byte // a re-encoded piece
	frames  int    // counted
	urgency int8

	begun    bool // something of the group has been taken
	borrowed bool // rest is the sender's scratch
	busy     atomic.Bool
	closed   bool // FIN is said, or the stream is gone; set before busy falls
}

func newGroupSender(v *served, stream SendStream, r moq.GroupReader) *groupSender {
	h := lite.GroupHeader{Subscribe: v.id, Sequence: r.Sequence(), FrameStart: uint64(r.First() + r.Frames())}
	g := &groupSender{v: v, stream: stream, r: r, urgency: groupUrgency, frames: r.Frames()}
	g.until = v.lastFrame(r.Sequence())
	g.mixed = !v.s.v.HasTimestamps() || v.s.v >= lite.V07WIP || r.Frames() > 0 || g.until < moq.MaxFrames
	g.rest = lite.AppendGroupStream(nil, v.s.v, h)
	g.setUrgency(v.urgency)
	return g
}

func (g *groupSender) setUrgency(urgency int8) {
	if g.urgency != urgency {
		g.urgency = urgency
		g.stream.SetPriority(urgency)
	}
}

// demote lets newer groups pass.
func (g *groupSender) demote() { g.setUrgency(min(g.urgency+1, lowestUrgency)) }

// push sends what can be sent at once, and says whether the stream is finished with.
func (g *groupSender) push(d *sender) (done bool) {
	if g.busy.Load() {
		return false
	}
	for !g.closed {
		more, err := g.fill(d)
		if err != nil {
			g.stream.Reset(streamCode(err))
			return true
		}
		if !g.begun || len(g.rest) > 0 && !g.queue(d) {
			return false
		}
		if g.last {
			g.finish()
		} else if !more {
			return false
		}
	}
	return true
}

// finish says FIN after the last byte.
func (g *groupSender) finish() {
	if !g.closed {
		g.closed = true
		g.stream.Close()
	}
}

// fill puts the next piece of the group behind rest. more: there may be another.
// The stream header waits in rest for the first piece, to share its packet.
func (g *groupSender) fill(d *sender) (more bool, err error) {
	if g.last {
		return false, nil
	}
	run, last, err := g.next()
	if err != nil {
		return false, err
	}
	g.last = last
	g.begun = g.begun || last || len(run) > 0
	g.count(len(run))
	g.extend(run, d)
	return len(run) > 0 && !last, nil
}

// extend appends run to rest, without a copy where rest is empty.
func (g *groupSender) extend(run []byte, d *sender) {
	switch {
	case len(run) == 0:
	case len(g.rest) == 0:
		g.rest, g.borrowed = run, false
	case d != nil && !g.borrowed:
		d.scratch = append(append(d.scratch[:0], g.rest...), run...)
		g.rest, g.borrowed = d.scratch, true
	default:
		g.rest = append(g.rest[:len(g.rest):len(g.rest)], run...)
	}
}

// next takes a piece in this peer's dialect.
func (g *groupSender) next() (run []byte, last bool, err error) {
	if !g.mixed {
		run, state, err := g.r.Raw()
		return run, state == moq.Done, err
	}
	p, state, ok, err := g.r.Next()
	if err != nil || !ok || p.Index > g.until {
		return nil, state == moq.Done || p.Index > g.until, err
	}
	g.piece = g.piece[:0]
	if p.Start {
		g.piece = lite.AppendFrameHeader(g.piece, g.v.s.v, int64(p.Timestamp)-int64(p.Previous), p.Size)
	}
	g.piece = append(g.piece, p.Payload...)
	return g.piece, false, nil
}

func (g *groupSender) count(bytes int) {
	egress := &g.v.s.cfg.Counters.Egress
	egress.Bytes.Add(uint64(bytes))
	if n := g.r.Frames(); n != g.frames {
		egress.Frames.Add(uint64(n - g.frames))
		g.frames = n
	}
}

// queue hands rest to the transport; false when that has to wait, which a
// goroutine then does.
func (g *groupSender) queue(d *sender) bool {
	d.backlog.add(len(g.rest))
	d.share.add(len(g.rest))
	if len(g.rest) <= inlineMax {
		err := g.stream.TryWrite(g.rest)
		if !errors.Is(err, ErrNoCredit) {
			if err != nil {
				d.backlog.add(-len(g.rest))
			}
			g.rest, g.closed = nil, err != nil
			return true
		}
	}
	if g.borrowed {
		g.rest, g.borrowed = append([]byte(nil), g.rest...), false
	}
	g.busy.Store(true)
	g.v.s.wg.Go(g.drain)
	return false
}

// drain writes, waiting for credit, until there is nothing more to write. What a
// reset keeps from being sent is no backlog: it would never drain.
func (g *groupSender) drain() {
	d := g.v.s.sender
	for counted := true; len(g.rest) > 0 && !g.closed; counted = false { // the first piece by queue
		if !counted {
			d.backlog.add(len(g.rest))
			d.share.add(len(g.rest))
		}
		if n, err := g.stream.Write(g.rest); err != nil {
			d.backlog.add(n - len(g.rest))
			g.closed = true
			break
		}
		g.rest = nil
		if _, err := g.fill(nil); err != nil {
			break // push meets it again and resets
		}
	}
	if g.last && len(g.rest) == 0 {
		g.finish()
	}
	g.busy.Store(false)
	g.v.s.sender.mark(g.v)
}
