package relay

import (
	"context"
	"time"
)

// governEvery is how often the cache is fitted to the memory that is free.
const governEvery = 5 * time.Second

// keepCache gives the cache its time, and its capacity (relay.md §7).
func (r *Relay) keepCache(ctx context.Context) error {
	r.govern()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var governed time.Time
	for {
		select {
		case now := <-tick.C:
			r.cache.Advance(now)
			if now.Sub(governed) >= governEvery {
				governed = now
				r.govern()
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// govern sets the capacity from cache.capacity and cache.headroom.
func (r *Relay) govern() {
	c := r.cfg.Load().Cache
	r.cache.SetMaxAge(c.Duration)
	mem, err := r.memory()
	if err != nil {
		r.cache.SetCapacity(int64(c.Capacity.Bytes)) // a share of what nobody knows is no bound
		return
	}
	r.cache.SetCapacity(capacity(c.Capacity.Of(int64(mem.Total)), c.Headroom.Of(int64(mem.Total)),
		r.cache.Stats().Used, int64(mem.Available)))
}

// minCapacity keeps a squeezed cache useful, and above "no bound".
const minCapacity = 1 << 20

// capacity is the lesser of the configured bound and what keeps headroom bytes
// free. 0 = no bound.
func capacity(bound, headroom, used, available int64) int64 {
	if headroom == 0 {
		return bound
	}
	fit := max(used+available-headroom, minCapacity)
	if bound == 0 {
		return fit
	}
	return min(bound, fit)
}
