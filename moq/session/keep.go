package session

import (
	"context"
	"time"

	"github.com/moqmesh/moqmesh/moq"
)

// Keep lets time pass for an origin: it does what falls due until ctx ends. An
// origin that announces what it has learnt to others needs it once.
func Keep(ctx context.Context, o *moq.Origin) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		o.Advance(time.Now())
		at, changed := o.Due()
		timer.Stop()
		if !at.IsZero() {
			timer.Reset(time.Until(at))
		}
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
