package moq

import (
	"time"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Group is an append-only run of frames: the unit of joining, skipping and
// dropping. Its bytes are kept once, in the frame encoding that most readers
// want (moq-lite-05 and later), so that fanning out copies nothing.
type Group struct {
	// Sequence numbers the group within its track. Gaps are normal.
	Sequence uint64
	track    *Track

	// Guarded by track.mu.
	first    int         // index of the first frame held here; above 0 where the head is missing
	frames   []frameMark // frames begun
	chunks   [][]byte    // encoded frames; a chunk only ever grows within its capacity
	size     int         // bytes in chunks
	pending  uint64      // payload bytes of the last frame still to come
	finished bool        // no more frames will come
	err      error       // ended early; chunks are gone
	writers  []*feed     // those that write it; two while a route changes
	backfill bool        // fetched: never the live edge
	framed   bool        // it is in track.framed
	arrival  uint64      // position in the track's arrival order
	came     time.Time   // when it began to arrive; zero = nobody said

	entry cacheEntry
}

// frameMark says where a frame stands in its group's encoded bytes.
type frameMark struct {
	timestamp uint64
	start     uint32 // of its header
	body      uint32 // of its payload
	size      uint32 // of its payload, declared
}

const (
	minChunk = 256
	maxChunk = 32 << 10
	// maxHeader is the longest frame header: two 8-byte varints.
	maxHeader = 16
	// groupOverhead is what a group costs beside its payload bytes: the struct,
	// its slots in the track and the cache, slice headers.
	groupOverhead = 512
)

// beginLocked appends the header of the next frame.
func (g *Group) beginLocked(timestamp, size uint64) error {
	switch {
	case g.err != nil:
		return g.err
	case g.finished || g.pending > 0:
		return ErrWrongSize
	case timestamp > wire.MaxVarint:
		return ErrTimestamp
	case size > MaxFrame:
		return ErrFrameTooLarge
	case len(g.frames) >= MaxFrames || g.size+maxHeader+int(size) > MaxGroup:
		return ErrGroupTooLarge
	}
	var prev uint64
	if n := len(g.frames); n > 0 {
		prev = g.frames[n-1].timestamp
	}
	delta := int64(timestamp) - int64(prev)
	if delta < wire.MinDelta || delta > wire.MaxDelta {
		return ErrTimestamp
	}
	var scratch [maxHeader]byte
	head := wire.QUIC.AppendZigzag(scratch[:0], delta)
	head = wire.AppendVarint(head, size)
	mark := frameMark{timestamp: timestamp, start: uint32(g.size), size: uint32(size)}
	g.appendLocked(head, int(size))
	mark.body = uint32(g.size)
	g.frames = append(g.frames, mark)
	g.pending = size
	return nil
}

// writeLocked appends payload of the frame begun last.
func (g *Group) writeLocked(p []byte) error {
	if g.err != nil {
		return g.err
	}
	if uint64(len(p)) > g.pending {
		return ErrWrongSize
	}
	g.pending -= uint64(len(p))
	g.appendLocked(p, int(g.pending))
	return nil
}

// appendLocked stores p, making room for more bytes that are expected soon but
// never for more than have already come: a peer does not choose our allocation.
func (g *Group) appendLocked(p []byte, expected int) {
	g.size += len(p)
	if n := len(g.chunks); n > 0 {
		last := g.chunks[n-1]
		room := min(cap(last)-len(last), len(p))
		g.chunks[n-1] = append(last, p[:room]...)
		p = p[room:]
	}
	if len(p) == 0 {
		return
	}
	room := min(expected, max(g.size, minChunk), maxChunk)
	chunk := make([]byte, len(p), len(p)+room)
	copy(chunk, p)
	g.chunks = append(g.chunks, chunk)
}

// memoryLocked is what the group counts for in the cache.
func (g *Group) memoryLocked() int64 {
	n := int64(groupOverhead) + 24*int64(cap(g.frames)+cap(g.chunks))
	for _, c := range g.chunks {
		n += int64(cap(c))
	}
	return n
}

// endLocked drops the bytes and remembers why. Readers see err from now on.
func (g *Group) endLocked(err error) {
	if g.err != nil {
		return
	}
	g.err = err
	g.chunks, g.frames = nil, nil
}
