package bench

import (
	"sync/atomic"
	"time"
)

// clock counts from the moment at which the publisher begins. Before that it
// stands at a negative value.
type clock struct {
	base  time.Time
	began atomic.Int64 // nanoseconds after base; 0 = not yet
}

func newClock() *clock { return &clock{base: time.Now()} }

// begin sets zero to now.
func (c *clock) begin() { c.began.Store(int64(time.Since(c.base))) }

// now is the time since begin.
func (c *clock) now() time.Duration {
	began := c.began.Load()
	if began == 0 {
		return -1
	}
	return time.Since(c.base) - time.Duration(began)
}
