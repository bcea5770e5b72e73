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
	l.Group = r.id()
	l.Object = r.id()
	return l
}

// id reads the number of a group or an object. One above wire.MaxVarint reads
// as that: no dialect has anything there.
func (r *reader) id() uint64 { return min(r.Varint(), wire.MaxVarint) }

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

// idAfter reads the distance of a number from another, which it may exceed as
// id may.
func (r *reader) idAfter(id uint64) uint64 { return min(id+r.id(), wire.MaxVarint) }
