package moq

import (
	"sync/atomic"
	"time"
)

// probation is how long after a move what a source brings may be what is left of
// the one before: relays in a circle hand on what each of them has.
const probation = 2 * time.Second

// trial says whether a source that a broadcast has moved to has yet to show that
// it leads to the publisher. When a publisher vanishes, relays fall back on each
// other's routes, which are about to go as well. Their subscriptions may then form
// a circle that nothing ends: each goes on for the sake of the next. So when no
// route is left, what runs over a source on trial ends.
type trial struct {
	until atomic.Int64 // when something new comes only from the publisher, in Unix nanoseconds; 0 = none runs
}

// begin is when the broadcast moves.
func (t *trial) begin(now time.Time) { t.until.Store(now.Add(probation).UnixNano()) }

// brought says that a group has begun to arrive.
func (t *trial) brought(now time.Time) {
	if until := t.until.Load(); until != 0 && now.UnixNano() >= until {
		t.until.CompareAndSwap(until, 0)
	}
}

func (t *trial) runs() bool { return t.until.Load() != 0 }
