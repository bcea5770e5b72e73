package session

import (
	"context"
	"time"

	"github.com/moqmesh/moqmesh/moq"
)

// Keep lets time pass for an origin: it does what falls due until ctx ends. An
// origin that announces to others needs that. Where several keep one origin, one
// does the work and the others stand by.
func Keep(ctx context.Context, o *moq.Origin) {
	release, ok := o.Claim(ctx)
	if !ok {
		return
	}
	defer release()
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
