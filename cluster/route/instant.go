package route

import "time"

// instant is a time in nanoseconds since just before the first one that a table
// was told; 0 = never. It takes a third of the room of a time.Time.
type instant int64

// epoch turns times into instants.
type epoch struct {
	zero time.Time
	last instant
}

// at reads a time. One that is before the last counts as that.
func (e *epoch) at(now time.Time) instant {
	if e.zero.IsZero() {
		e.zero = now.Add(-1)
	}
	e.last = max(e.last, instant(now.Sub(e.zero)))
	return e.last
}

func (e *epoch) time(i instant) time.Time {
	if i == 0 {
		return time.Time{}
	}
	return e.zero.Add(time.Duration(i))
}

func (i instant) add(d time.Duration) instant { return i + instant(d) }

// past says that a deadline is set and has come.
func (i instant) past(now instant) bool { return i != 0 && i <= now }

// sooner is the earlier of two deadlines, of which either may be unset.
func sooner(a, b instant) instant {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	}
	return min(a, b)
}
