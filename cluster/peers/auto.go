package peers

import (
	"math"
	"slices"
	"time"
)

// The rule of "?cost=auto".
const (
	AutoEvery  = 5 * time.Second  // between two samples
	autoWindow = 30 * time.Second // what a price is derived from
	autoHold   = 30 * time.Second // how long a price must be wrong to change
	autoShare  = 4                // wrong is a quarter of the price in force, or more

	// autoPackets is how many must have been sent in the window for their loss to count: one of a few is no measure.
	autoPackets = 100
)

// Sample is what a transport measured of a link up to one moment.
type Sample struct {
	RTT        time.Duration // now; 0 = unknown
	Sent, Lost uint64        // packets, since the link is up
}

// AutoPrice derives the price of one session from samples: the least round trip of the last 30 s in units of 5 ms,
// at least 1, and 10 for each percent of packets lost in them. A price changes once what would be right has been off
// by a quarter or more for 30 s. The zero value is for a new session.
type AutoPrice struct {
	window []timed // oldest first
	price  uint64  // in force; 0 = none yet
	wrong  time.Time
}

type timed struct {
	at time.Time
	Sample
}

// Take adds a sample and returns the price in force, 0 while nothing is known, and whether it is another than before.
func (a *AutoPrice) Take(now time.Time, s Sample) (price uint64, changed bool) {
	fresh := slices.IndexFunc(a.window, func(t timed) bool { return now.Sub(t.at) <= autoWindow })
	if fresh < 0 {
		fresh = len(a.window)
	}
	a.window = append(slices.Delete(a.window, 0, fresh), timed{now, s})
	right, ok := a.right()
	switch {
	case !ok:
		return a.price, false
	case a.price == 0:
		a.price = right
		return right, true
	case autoShare*max(right, a.price)-autoShare*min(right, a.price) < a.price:
		a.wrong = time.Time{}
	case a.wrong.IsZero():
		a.wrong = now
	case now.Sub(a.wrong) >= autoHold:
		a.price, a.wrong = right, time.Time{}
		return right, true
	}
	return a.price, false
}

// right is the price that the window comes to.
func (a *AutoPrice) right() (price uint64, ok bool) {
	var least time.Duration
	for _, t := range a.window {
		if t.RTT > 0 && (least == 0 || t.RTT < least) {
			least = t.RTT
		}
	}
	if least == 0 {
		return 0, false
	}
	ms := float64(least) / float64(time.Millisecond)
	return uint64(max(1, math.Round(ms/5)) + math.Round(10*a.lossPercent())), true
}

func (a *AutoPrice) lossPercent() float64 {
	from, to := a.window[0], a.window[len(a.window)-1]
	if to.Sent < from.Sent+autoPackets || to.Lost < from.Lost {
		return 0
	}
	return min(100*float64(to.Lost-from.Lost)/float64(to.Sent-from.Sent), 100)
}
