package moq

import (
	"sync"
	"sync/atomic"
	"time"
)

// CacheExpiry is how long a group that is neither read nor written stays, unless
// it is its track's newest (moq-lite.md §14.5).
const CacheExpiry = 30 * time.Second

// Cache bounds the memory of all groups of an Origin, bookkeeping included.
// When it is over its capacity the groups that were least recently written or
// fetched go first; the newest group of a live track never goes.
type Cache struct {
	capacity atomic.Int64 // bytes; 0 = no bound
	maxAge   atomic.Int64 // nanoseconds; 0 = no ceiling
	used     atomic.Int64 // bytes
	groups   atomic.Int64
	evicted  atomic.Int64 // groups dropped for memory
	expired  atomic.Int64 // groups dropped for age

	mu    sync.Mutex
	now   time.Time  // as of the last Advance
	first cacheEntry // sentinel of a ring of what may go, least recently used next to it
}

// cacheEntry links a group into the ring. A group that must stay for now is out of
// it, so that nobody looks at it in vain again. Guarded by Cache.mu.
type cacheEntry struct {
	prev, next *cacheEntry // nil while out of the ring
	group      *Group
	touched    time.Time
	counted    int64 // bytes charged for the group; 0 = not in the cache
}

// NewCache returns a cache that holds capacity bytes, or any amount where that is 0.
func NewCache(capacity int64) *Cache {
	c := &Cache{}
	c.first.prev, c.first.next = &c.first, &c.first
	c.capacity.Store(capacity)
	return c
}

// SetCapacity changes the bound. It takes effect with the next write or Advance.
func (c *Cache) SetCapacity(bytes int64) { c.capacity.Store(bytes) }

// SetMaxAge sets a ceiling on how long any group but a live edge is kept, by the
// wall clock since it was last written or fetched, and on every track's own
// MaxAge. Zero: none.
func (c *Cache) SetMaxAge(d time.Duration) { c.maxAge.Store(int64(d)) }

// clamp is a track's MaxAge under the ceiling.
func (c *Cache) clamp(d time.Duration) time.Duration {
	if limit := time.Duration(c.maxAge.Load()); limit > 0 {
		return min(d, limit)
	}
	return d
}

// CacheStats are the figures of a cache. Counts only rise.
type CacheStats struct {
	Capacity int64 // bytes; 0 = no bound
	Used     int64 // bytes
	Groups   int64 // held now
	Evicted  int64 // groups dropped to free memory
	Expired  int64 // groups dropped by age
}

// Stats reads the figures.
func (c *Cache) Stats() CacheStats {
	return CacheStats{
		Capacity: c.capacity.Load(),
		Used:     c.used.Load(),
		Groups:   c.groups.Load(),
		Evicted:  c.evicted.Load(),
		Expired:  c.expired.Load(),
	}
}

// charge accounts for bytes more of g and makes it the most recently used.
func (c *Cache) charge(g *Group, bytes int64) {
	c.mu.Lock()
	e := &g.entry
	if e.group == nil {
		e.group = g
		c.groups.Add(1)
	}
	e.unlink()
	c.used.Add(bytes - e.counted)
	e.counted, e.touched = bytes, c.now
	e.link(&c.first)
	c.mu.Unlock()
}

// touch makes g the most recently used.
func (c *Cache) touch(g *Group) {
	c.mu.Lock()
	if e := &g.entry; e.counted > 0 {
		e.unlink()
		e.touched = c.now
		e.link(&c.first)
	}
	c.mu.Unlock()
}

// keep takes g out of what may go.
func (c *Cache) keep(g *Group) {
	c.mu.Lock()
	g.entry.unlink()
	c.mu.Unlock()
}

// free makes g, if it was kept, the next to go: it was when it was last looked at.
func (c *Cache) free(g *Group) {
	c.mu.Lock()
	if e := &g.entry; e.counted > 0 && e.next == nil {
		e.link(c.first.next)
	}
	c.mu.Unlock()
}

// release forgets g.
func (c *Cache) release(g *Group) {
	c.mu.Lock()
	if e := &g.entry; e.counted > 0 {
		e.unlink()
		c.used.Add(-e.counted)
		c.groups.Add(-1)
		e.counted = 0
	}
	c.mu.Unlock()
}

func (e *cacheEntry) unlink() {
	if e.next == nil {
		return
	}
	e.prev.next, e.next.prev = e.next, e.prev
	e.prev, e.next = nil, nil
}

// link puts e before another, or at the end where that is the sentinel.
func (e *cacheEntry) link(before *cacheEntry) {
	e.prev, e.next = before.prev, before
	before.prev.next, before.prev = e, e
}

// Advance tells the cache the time and drops what has aged out. Call it about
// once a second.
func (c *Cache) Advance(now time.Time) {
	c.mu.Lock()
	c.now = now
	c.mu.Unlock()
	expiry := c.clamp(CacheExpiry)
	c.drop(&c.expired, ErrExpired, func(e *cacheEntry) bool { return now.Sub(e.touched) >= expiry })
	c.enforce()
}

// enforce brings the cache back under its capacity as far as it can. It takes
// track locks: call it without any.
func (c *Cache) enforce() {
	if limit := c.capacity.Load(); limit > 0 && c.used.Load() > limit {
		c.drop(&c.evicted, ErrEvicted, func(*cacheEntry) bool { return c.used.Load() > limit })
	}
}

// drop removes groups from the least recently used on, as long as due says so.
// Newest groups of live tracks stay. Each look takes a group out of the ring, so
// that looks are no more than writes and reads.
func (c *Cache) drop(counter *atomic.Int64, reason error, due func(*cacheEntry) bool) {
	for g := c.victim(due); g != nil; g = c.victim(due) {
		if g.track.evict(g, reason) {
			counter.Add(1)
		}
	}
}

// victim returns the least recently used group that is due.
func (c *Cache) victim(due func(*cacheEntry) bool) *Group {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.first.next; e != &c.first && due(e) {
		return e.group
	}
	return nil
}
