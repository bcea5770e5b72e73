package moqt

import (
	"fmt"
	"math"
	"time"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Location is a place in a track (§2.2). Locations are ordered by group, then
// by object.
type Location struct {
	Group  uint64
	Object uint64
}

func (l Location) append(b []byte, enc wire.Encoding) []byte {
	return enc.AppendVarint(enc.AppendVarint(b, l.Group), l.Object)
}

func (r *reader) location() (l Location) {
	l.Group = r.Varint()
	l.Object = r.Varint()
	return l
}

// GroupOrder is the order in which groups are sent. The zero value leaves it to
// the publisher, and in a message says nothing.
type GroupOrder uint8

// The group orders.
const (
	Ascending  GroupOrder = 1 // oldest first
	Descending GroupOrder = 2 // newest first
)

func (r *reader) checkOrder(n uint64) GroupOrder {
	if n > uint64(Descending) {
		r.Fail(fmt.Errorf("group order %d: %w", n, wire.ErrValue))
		return 0
	}
	return GroupOrder(n)
}

// maxMillis is the longest time.Duration in whole milliseconds.
const maxMillis = math.MaxInt64 / int64(time.Millisecond)

// millis is d in milliseconds, rounded down; a negative d is 0.
func millis(d time.Duration) uint64 { return uint64(max(d.Milliseconds(), 0)) }

// duration is the inverse of millis. More than a time.Duration holds, 292
// years, is that.
func duration(millis uint64) time.Duration {
	return time.Duration(min(millis, uint64(maxMillis))) * time.Millisecond
}

// sum adds a delta to a number and fails where the result does not fit.
func (r *reader) sum(n, delta uint64) uint64 {
	if n+delta < n {
		r.Fail(fmt.Errorf("%d after %d: %w", delta, n, wire.ErrTooLarge))
		return 0
	}
	return n + delta
}
