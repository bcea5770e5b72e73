package moq

import "sync/atomic"

// carry counts the subscriptions that run on a broadcast and tells the origin
// when there begin and cease to be any: while there are, it costs nothing more to
// pull the broadcast through this process (cluster.md §4.1).
type carry struct {
	readers atomic.Int64
	changed atomic.Pointer[func()] // nil where nobody routes by it
}

func (c *carry) add(n int64) {
	now := c.readers.Add(n)
	if now > 1 || now == 1 && n < 0 {
		return
	}
	if f := c.changed.Load(); f != nil {
		(*f)()
	}
}

// on says whether a subscription runs.
func (c *carry) on() bool { return c.readers.Load() > 0 }
