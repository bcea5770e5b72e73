package lite

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// AppendFrameHeader appends what precedes the payload of a frame on a group or
// fetch stream (§9.1): from 05 on the timestamp as a delta against that of the
// frame before on the stream, the first against 0, then the payload's size.
// Callers keep delta within wire.MinDelta and wire.MaxDelta; see [FrameDelta].
func AppendFrameHeader(b []byte, v Version, delta int64, size uint64) []byte {
	enc := v.Encoding()
	if v.HasTimestamps() {
		b = enc.AppendZigzag(b, delta)
	}
	return enc.AppendVarint(b, size)
}

// ParseFrameHeader takes a frame header off the front of b and returns how many
// bytes it took: 0 when b ends before it does. Up to 04 delta is 0. A size
// above MaxFrame is wire.ErrTooLarge. It never asks for more than 18 bytes and
// does not allocate.
func ParseFrameHeader(b []byte, v Version) (delta int64, size uint64, n int, err error) {
	enc := v.Encoding()
	if v.HasTimestamps() {
		u, used, err := enc.Parse(b)
		if err != nil {
			return 0, 0, 0, fmt.Errorf("decode frame: timestamp: %w", err)
		}
		if used == 0 {
			return 0, 0, 0, nil
		}
		delta, n = wire.Unzigzag(u), used
	}
	size, used, err := enc.Parse(b[n:])
	if err == nil && size > MaxFrame {
		err = wire.ErrTooLarge
	}
	if err != nil {
		return 0, 0, 0, fmt.Errorf("decode frame: size %d: %w", size, err)
	}
	if used == 0 {
		return 0, 0, 0, nil
	}
	return delta, size, n + used, nil
}

// FrameDelta returns the delta that takes a stream from timestamp prev to next,
// both at most wire.MaxVarint. ok is false where no delta on the wire does.
func FrameDelta(prev, next uint64) (delta int64, ok bool) {
	delta = int64(next) - int64(prev)
	return delta, wire.MinDelta <= delta && delta <= wire.MaxDelta
}

// FrameTime returns the timestamp that delta leads to from prev. ok is false
// where that is outside 0 to wire.MaxVarint, which fails the group.
func FrameTime(prev uint64, delta int64) (next uint64, ok bool) {
	next = prev + uint64(delta) // a negative sum wraps to above MaxVarint
	return next, next <= wire.MaxVarint
}
