package main

import (
	"context"
	"math/rand/v2"
	"time"
)

// The first wait of a retry and the longest.
const (
	firstWait = 500 * time.Millisecond
	lastWait  = 5 * time.Second
)

// retry spaces attempts: ever longer while they bring nothing.
type retry struct {
	wait time.Duration // before the next attempt; 0 = firstWait
}

// sleep waits until the next attempt is due, or ctx ends. progress says that the
// one before was of use.
func (r *retry) sleep(ctx context.Context, progress bool) error {
	if progress || r.wait == 0 {
		r.wait = firstWait
	}
	timer := time.NewTimer(time.Duration(float64(r.wait) * (0.5 + rand.Float64()/2)))
	defer timer.Stop()
	r.wait = min(2*r.wait, lastWait)
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
