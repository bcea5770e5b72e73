package route

import "time"

// grace is how long a name counts as carried after its last subscription.
const grace = 5 * time.Second

// carry says whether a name is pulled through us.
type carry struct {
	live  bool
	grace instant // when it ends, after the last subscription
}

func (c *carry) set(now instant, on bool) {
	switch {
	case on:
		*c = carry{live: true}
	case c.live:
		*c = carry{grace: now.add(grace)}
	}
}

func (c *carry) expire(now instant) {
	if c.grace.past(now) {
		c.grace = 0
	}
}

// on says that the upstream pull is paid for.
func (c *carry) on() bool { return c.live || c.grace != 0 }
