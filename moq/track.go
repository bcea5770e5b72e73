package moq

import (
	"context"
	"slices"
	"sync"
)

// Track is a sequence of groups under one name. Readers subscribe to it; the
// writing side is a TrackWriter.
type Track struct {
	key   TrackKey
	b     *Broadcast
	cache *Cache

	mu       sync.Mutex
	info     *TrackInfo // nil until the publisher has said
	groups   []*Group   // by sequence
	arrivals []*Group   // in order of arrival; nil where dropped
	arrived  uint64     // groups that ever arrived
	framed   []*Group   // those of groups whose first frame has been shown; the newest is the live edge
	end      uint64     // one past the last group; valid where ended
	ended    bool       // the publisher has said the end
	complete bool       // and all that will come has come
	err      error      // ended early
	subs     []*Subscription
	feeds    []*feed // who brings it, the newest last; none once it is over
	stranded bool    // the feed that should have replaced the present one has failed
	wanted   Demand
	grams    datagrams
	changed  chan struct{} // closed at the next change; nil while nobody waits
	fetched  map[uint64]*fetch
	feeding  int  // fetches that read a group off the feed as it comes
	holders  int  // handles and subscriptions open
	orphan   bool // its broadcast is gone: nothing is worth keeping
}

// TrackKey names a track within a broadcast.
type TrackKey struct {
	// Suffix is the requested path below the announced one, mostly "".
	Suffix string
	Name   string
}

func newTrack(key TrackKey, b *Broadcast, s Source) (*Track, *TrackWriter) {
	t := &Track{key: key, b: b, cache: b.cache, feeds: []*feed{newFeed(s)}}
	return t, &TrackWriter{t, t.feeds[0]}
}

// Key is the track's name within its broadcast.
func (t *Track) Key() TrackKey { return t.key }

// Info waits for what the publisher says of the track.
func (t *Track) Info(ctx context.Context) (TrackInfo, error) {
	err := t.wait(ctx, func() bool { return t.info != nil || t.err != nil })
	if err != nil {
		return TrackInfo{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.info == nil {
		return TrackInfo{}, t.err
	}
	return *t.info, nil
}

// Err is why the track ended early; nil while it lives and after a clean end.
func (t *Track) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// wait blocks until ready (called with the lock held) or ctx ends.
func (t *Track) wait(ctx context.Context, ready func() bool) error {
	for {
		t.mu.Lock()
		if ready() {
			t.mu.Unlock()
			return nil
		}
		if t.changed == nil {
			t.changed = make(chan struct{})
		}
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// notifyLocked wakes everybody who follows the track.
func (t *Track) notifyLocked() {
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
	for _, s := range t.subs {
		if s.wake != nil {
			s.wake()
		}
	}
}

// groupChanged shows readers what was written to g and settles its memory.
func (t *Track) groupChanged(g *Group) {
	t.mu.Lock()
	if g.err != nil {
		t.mu.Unlock()
		return
	}
	t.frameLocked(g)
	t.cache.charge(g, g.memoryLocked())
	t.expireLocked()
	t.notifyLocked()
	t.mu.Unlock()
	t.cache.enforce()
}

// frameLocked takes note of a group's first frame, which may make it the live edge.
func (t *Track) frameLocked(g *Group) {
	if g.framed || g.backfill || len(g.frames) == 0 {
		return
	}
	g.framed = true
	edge := t.edgeLocked()
	t.framed = slices.Insert(t.framed, indexOf(t.framed, g.Sequence), g)
	if edge != nil && edge != t.edgeLocked() {
		t.cache.free(edge)
	}
}

// edgeLocked is the newest group that has a frame; nil where there is none.
func (t *Track) edgeLocked() *Group { return newest(t.framed) }

// expireLocked drops groups that fell behind the edge by more than the track keeps.
func (t *Track) expireLocked() {
	if t.info == nil {
		return
	}
	budget := t.info.units(t.info.MaxAge)
	for len(t.groups) > 0 && t.staleLocked(t.groups[0], budget) {
		t.removeLocked(t.groups[0], ErrExpired)
	}
}

// staleLocked says whether g is behind the live edge by budget timestamp units or
// more: measured from where the group after it begins (moq-lite.md §14.2). A group
// after it that has no frame is passed over: it may never get one, and what follows
// it begins no earlier.
func (t *Track) staleLocked(g *Group, budget uint64) bool {
	edge := t.edgeLocked()
	if edge == nil || edge.Sequence <= g.Sequence {
		return false
	}
	next := t.framed[indexOf(t.framed, g.Sequence+1)]
	at, reach := edge.frames[len(edge.frames)-1].timestamp, next.frames[0].timestamp
	return at >= reach && at-reach >= budget
}

// insertLocked adds a group that just arrived.
func (t *Track) insertLocked(g *Group) {
	if last := t.lastLocked(); last != nil && last.Sequence < g.Sequence {
		t.cache.free(last)
	}
	t.groups = slices.Insert(t.groups, indexOf(t.groups, g.Sequence), g)
	g.arrival = t.arrived
	t.arrived++
	t.arrivals = append(t.arrivals, g)
}

// arrivalLocked returns the group that arrived as number n; nil where it is gone.
func (t *Track) arrivalLocked(n uint64) *Group {
	base := t.arrived - uint64(len(t.arrivals))
	if n < base {
		return nil
	}
	return t.arrivals[n-base]
}

// removeLocked takes g out of the track; its readers see err.
func (t *Track) removeLocked(g *Group, err error) {
	if g.err != nil {
		return
	}
	if g.backfill {
		if f := t.fetched[g.Sequence]; f != nil && f.g == g {
			delete(t.fetched, g.Sequence)
		}
	} else {
		t.unlistLocked(g)
	}
	for _, f := range g.writers {
		f.open--
	}
	g.writers = nil
	g.endLocked(err)
	t.cache.release(g)
}

// findLocked returns the group of a sequence; nil where it is not here.
func (t *Track) findLocked(sequence uint64) *Group {
	if i := indexOf(t.groups, sequence); i < len(t.groups) && t.groups[i].Sequence == sequence {
		return t.groups[i]
	}
	return nil
}

func (t *Track) unlistLocked(g *Group) {
	t.groups = without(t.groups, g)
	if g.framed {
		t.framed = without(t.framed, g)
	}
	t.arrivals[g.arrival-(t.arrived-uint64(len(t.arrivals)))] = nil
	for len(t.arrivals) > 0 && t.arrivals[0] == nil {
		t.arrivals = t.arrivals[1:]
	}
}

// dropGroup ends g early, whoever writes it.
func (t *Track) dropGroup(g *Group, err error) {
	t.mu.Lock()
	t.removeLocked(g, err)
	t.notifyLocked()
	t.mu.Unlock()
}

// evict drops g for age or memory. The live edge of a live track stays, and the
// cache is told not to ask again until it has ceased to be that.
func (t *Track) evict(g *Group, reason error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if g.err != nil {
		return false
	}
	if !t.orphan && (g == t.edgeLocked() || g == t.lastLocked()) {
		t.cache.keep(g)
		return false
	}
	t.removeLocked(g, reason)
	t.notifyLocked()
	return true
}

func (t *Track) lastLocked() *Group { return newest(t.groups) }

// closeLocked ends the track; all groups go unless keep.
func (t *Track) closeLocked(err error) {
	for _, g := range []*Group{t.edgeLocked(), t.lastLocked()} {
		if g != nil {
			t.cache.free(g) // an orphan keeps nothing
		}
	}
	if t.err != nil || t.complete {
		return
	}
	t.err = err
	for len(t.groups) > 0 {
		t.removeLocked(t.groups[len(t.groups)-1], err)
	}
	for _, f := range t.fetched {
		t.removeLocked(f.g, err)
	}
	t.dropFeedsLocked(nil)
	t.notifyLocked()
}

// dropOpenLocked ends the groups that were still being written.
func (t *Track) dropOpenLocked(err error) {
	for i := len(t.groups) - 1; i >= 0; i-- {
		if g := t.groups[i]; !g.finished {
			t.removeLocked(g, err)
		}
	}
}
