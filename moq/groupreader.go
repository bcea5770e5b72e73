package moq

import (
	"context"
	"slices"
	"sort"
	"time"
)

// GroupReader is a cursor into a group. Copies are independent cursors; one
// goroutine uses a cursor at a time.
type GroupReader struct {
	g     *Group
	frame int    // index into g.frames of the frame at pos
	pos   uint32 // of the next byte to read
	chunk int    // index of the chunk that holds pos
	base  uint32 // position of that chunk's first byte
}

// newGroupReaderLocked starts at frame start (counted from the group's head);
// ok is false where that frame is missing from the head of g.
func newGroupReaderLocked(g *Group, start int) (r GroupReader, ok bool) {
	return GroupReader{g: g, frame: max(start-g.first, 0)}, start >= g.first || len(g.frames) == 0 && g.first == 0
}

// Sequence is the group's number.
func (r *GroupReader) Sequence() uint64 { return r.g.Sequence }

// Group identifies what the cursor reads.
func (r *GroupReader) Group() *Group { return r.g }

// Arrived is when the group began to arrive, as its writer says. Zero: it did not say.
func (r *GroupReader) Arrived() time.Time {
	r.g.track.mu.Lock()
	defer r.g.track.mu.Unlock()
	return r.g.came
}

// State says how a group stands for one cursor.
type State uint8

const (
	// Open: more may come.
	Open State = iota
	// Done: everything was read and the group is complete.
	Done
	// Aborted: the group ended early; the error says why.
	Aborted
)

// Raw returns the next run of bytes in the frame encoding of moq-lite-05 and
// later (zigzag timestamp delta, size, payload) and moves over it. The run may
// end anywhere, and stays valid and unchanged for ever. It is empty when there
// is nothing new; state Done says that nothing comes after it. Only for cursors
// that start at the first frame the group holds.
func (r *GroupReader) Raw() (run []byte, state State, err error) {
	r.g.track.mu.Lock()
	defer r.g.track.mu.Unlock()
	g := r.g
	if g.err != nil {
		return nil, Aborted, g.err
	}
	run = r.runLocked(uint32(g.size))
	r.pos += uint32(len(run))
	for r.frame < len(g.frames) && g.frames[r.frame].start < r.pos {
		r.frame++
	}
	if r.pos < uint32(g.size) {
		return run, Open, nil
	}
	return run, r.restStateLocked(), nil
}

// Frames is the number of frames begun by what was read, those before the
// cursor's start included.
func (r *GroupReader) Frames() int { return r.frame }

// First is the index, within the group, of the first frame that is here.
func (r *GroupReader) First() int { return r.g.first }

func (r *GroupReader) restStateLocked() State {
	if r.g.finished {
		return Done
	}
	return Open
}

// runLocked returns the contiguous bytes from pos, not beyond limit.
func (r *GroupReader) runLocked(limit uint32) []byte {
	for r.chunk < len(r.g.chunks) {
		c := r.g.chunks[r.chunk]
		if at := int(r.pos - r.base); at < len(c) {
			end := min(len(c), int(limit-r.base))
			return c[at:end:end]
		}
		if r.chunk == len(r.g.chunks)-1 {
			return nil // the last chunk may still grow
		}
		r.base += uint32(len(c))
		r.chunk++
	}
	return nil
}

// Part is a piece of a group for readers of another dialect: a frame's header
// fields where Start is set, then payload as far as it has come.
type Part struct {
	Index     int // of the frame within its group
	Start     bool
	Timestamp uint64
	Previous  uint64 // timestamp of the frame before; 0 for the cursor's first frame
	Size      uint64
	Payload   []byte // as Raw's bytes
}

// Next returns the next piece and moves over it. ok is false when there is
// nothing new; the state then says whether more may come.
func (r *GroupReader) Next() (p Part, state State, ok bool, err error) {
	r.g.track.mu.Lock()
	defer r.g.track.mu.Unlock()
	g := r.g
	if g.err != nil {
		return p, Aborted, false, g.err
	}
	if r.frame >= len(g.frames) {
		return p, r.restStateLocked(), false, nil
	}
	f := g.frames[r.frame]
	p.Index = g.first + r.frame
	if r.pos < f.body {
		p.Start, p.Timestamp, p.Size = true, f.timestamp, uint64(f.size)
		if r.pos > 0 {
			p.Previous = g.frames[r.frame-1].timestamp
		}
		r.pos = f.body
	}
	end := f.body + f.size
	p.Payload = r.runLocked(min(uint32(g.size), end))
	r.pos += uint32(len(p.Payload))
	if r.pos == end {
		r.frame++
	}
	return p, Open, p.Start || len(p.Payload) > 0, nil
}

// Err is why the group ended early; nil while it lives and when it is complete.
func (r *GroupReader) Err() error {
	r.g.track.mu.Lock()
	defer r.g.track.mu.Unlock()
	return r.g.err
}

// Wait blocks until Raw, Next or ReadFrame may have something new to say.
func (r *GroupReader) Wait(ctx context.Context) error {
	return r.g.track.wait(ctx, func() bool {
		g := r.g
		return g.err != nil || g.finished || r.pos < uint32(g.size) && (r.pos > 0 || r.frame < len(g.frames))
	})
}

// ReadFrame waits for the next whole frame. ok is false, without an error, when
// the group is complete.
func (r *GroupReader) ReadFrame(ctx context.Context) (f Frame, ok bool, err error) {
	for {
		f, state, err := r.frameNow()
		if state != Open || f.Payload != nil || err != nil {
			return f, f.Payload != nil, err
		}
		if err := r.g.track.wait(ctx, r.frameReadyLocked); err != nil {
			return Frame{}, false, err
		}
	}
}

// frameReadyLocked: frameNow has something to say.
func (r *GroupReader) frameReadyLocked() bool {
	g := r.g
	return g.err != nil || g.finished || r.frame+1 < len(g.frames) ||
		r.frame < len(g.frames) && g.pending == 0
}

// frameNow returns the next frame if all of it is here; Payload is then non-nil.
func (r *GroupReader) frameNow() (f Frame, state State, err error) {
	r.g.track.mu.Lock()
	defer r.g.track.mu.Unlock()
	g := r.g
	switch {
	case g.err != nil:
		return f, Aborted, g.err
	case r.frame >= len(g.frames):
		return f, r.restStateLocked(), nil
	case r.frame == len(g.frames)-1 && g.pending > 0:
		return f, Open, nil
	}
	mark := g.frames[r.frame]
	f = Frame{Timestamp: mark.timestamp, Payload: make([]byte, 0, mark.size)}
	r.pos = mark.body
	for end := mark.body + mark.size; r.pos < end; {
		run := r.runLocked(end)
		f.Payload = append(f.Payload, run...)
		r.pos += uint32(len(run))
	}
	r.frame++
	return f, Open, nil
}

// indexOf finds where a group of that sequence stands or would stand.
func indexOf(groups []*Group, sequence uint64) int {
	if n := len(groups); n > 0 && groups[n-1].Sequence < sequence {
		return n // the usual case: newest last
	}
	return sort.Search(len(groups), func(i int) bool { return groups[i].Sequence >= sequence })
}

// without takes g out of groups, mostly from the front.
func without(groups []*Group, g *Group) []*Group {
	i := indexOf(groups, g.Sequence)
	if i > 0 {
		return slices.Delete(groups, i, i+1)
	}
	groups[0] = nil
	return groups[1:]
}

// newest is the last of groups; nil where there is none.
func newest(groups []*Group) *Group {
	if len(groups) == 0 {
		return nil
	}
	return groups[len(groups)-1]
}
