package session

import (
	"sync/atomic"
	"time"
)

// DelayBounds are the upper ends of the buckets of Delays, rising.
var DelayBounds = [...]time.Duration{
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond,
}

// Delays is a histogram of durations. It is safe for concurrent use.
type Delays struct {
	counts [len(DelayBounds) + 1]atomic.Uint64 // the last: above all bounds
	sum    atomic.Int64                        // nanoseconds
}

func (d *Delays) observe(t time.Duration) {
	i := 0
	for i < len(DelayBounds) && t > DelayBounds[i] {
		i++
	}
	d.sum.Add(int64(t))
	d.counts[i].Add(1)
}

// Read returns how many durations were not above each bound, how many there were
// at all, and their sum.
func (d *Delays) Read() (upTo [len(DelayBounds)]uint64, all uint64, sum time.Duration) {
	for i := range d.counts {
		all += d.counts[i].Load()
		if i < len(upTo) {
			upTo[i] = all
		}
	}
	return upTo, all, time.Duration(d.sum.Load())
}

// One group in sampleEvery of a session is timed. It is never the first few, which
// often come from the cache.
const (
	sampleEvery = 16
	sampleAt    = sampleEvery / 2
)

// timeNext says whether the group that is begun now is one to time.
func (d *sender) timeNext() bool {
	d.begun++
	return d.begun%sampleEvery == sampleAt
}

// timeGroup measures how long a group took from its arrival to the hand-over of its
// first bytes. One that was here before the viewer says nothing.
func (v *served) timeGroup(arrived time.Time) {
	if arrived.After(v.since) {
		v.s.cfg.Counters.Forwarding.observe(time.Since(arrived))
	}
}
