package moq

import "context"

// fetch is one group being pulled, or pulled lately, for those who asked for it.
type fetch struct {
	g       *Group
	readers int
	cancel  func() // nil until the source has answered
}

// Fetched is a reader of one group that may still be on its way.
type Fetched struct {
	GroupReader
	t *Track
	f *fetch // nil: the group is in the track

	feeding bool // the group was still being written: the feed must go on
}

// Fetch reads one group from frame on: out of the track where it is there with
// its head, else through the source, once for all who ask. Where the source
// cannot fetch, the group must come by in the live feed: until the feed has begun
// Fetch waits for it. ErrNotFound where there is no such group.
// The caller closes what it gets.
func (t *Track) Fetch(ctx context.Context, sequence, frame uint64, priority uint8) (*Fetched, error) {
	if f := t.cached(sequence, frame); f != nil {
		return f, nil
	}
	f, g := t.startFetch(sequence, frame)
	if g == nil {
		return f, nil // joined, or nothing to fetch through
	}
	if source := t.b.supply(); source != nil {
		if cancel := source.Fetch(t.key, &GroupWriter{g: g}, frame, priority); cancel != nil {
			t.armFetch(f.f, cancel)
			return f, nil
		}
	}
	t.dropGroup(g, ErrNotFound)
	return t.awaitLive(ctx, sequence, frame)
}

// cached returns a reader of a group that is here, head included.
func (t *Track) cached(sequence, frame uint64) *Fetched {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := indexOf(t.groups, sequence)
	if i == len(t.groups) || t.groups[i].Sequence != sequence {
		return nil
	}
	r, ok := newGroupReaderLocked(t.groups[i], int(min(frame, MaxFrames)))
	if !ok {
		return nil
	}
	t.cache.touch(t.groups[i])
	f := &Fetched{GroupReader: r, t: t, feeding: !t.groups[i].finished}
	if f.feeding {
		t.feeding++
		t.redemandLocked()
	}
	return f
}

// startFetch joins a fetch that serves frame, or begins one: g is then new.
func (t *Track) startFetch(sequence, frame uint64) (_ *Fetched, g *Group) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.fetched[sequence]; f != nil {
		if r, ok := newGroupReaderLocked(f.g, int(min(frame, MaxFrames))); ok {
			f.readers++
			return &Fetched{GroupReader: r, t: t, f: f}, nil
		} // else its readers keep it, and later ones take ours
	}
	g = &Group{Sequence: sequence, track: t, first: int(min(frame, MaxFrames)), backfill: true}
	f := &fetch{g: g, readers: 1}
	r, _ := newGroupReaderLocked(g, g.first)
	if t.err != nil || !t.b.sourced {
		g.endLocked(ErrNotFound)
		return &Fetched{GroupReader: r, t: t, f: f}, nil
	}
	if t.fetched == nil {
		t.fetched = make(map[uint64]*fetch)
	}
	t.fetched[sequence] = f
	t.cache.charge(g, groupOverhead)
	return &Fetched{GroupReader: r, t: t, f: f}, g
}

// armFetch stores how to cancel, or cancels where everybody has left already.
func (t *Track) armFetch(f *fetch, cancel func()) {
	t.mu.Lock()
	f.cancel = cancel
	gone := f.readers == 0
	t.mu.Unlock()
	if gone {
		cancel()
	}
}

// awaitLive waits until the live feed has begun and then looks for the group there.
func (t *Track) awaitLive(ctx context.Context, sequence, frame uint64) (*Fetched, error) {
	err := t.wait(ctx, func() bool { return t.arrived > 0 || t.err != nil || t.complete })
	if err != nil {
		return nil, err
	}
	if f := t.cached(sequence, frame); f != nil {
		return f, nil
	}
	return nil, ErrNotFound
}

// Close lets go of the group. The last reader of a fetch that is still under way
// cancels it: a cut group is never kept as whole.
func (f *Fetched) Close() {
	f.t.mu.Lock()
	if f.feeding {
		f.feeding = false
		f.t.feeding--
		f.t.redemandLocked()
	}
	if f.f == nil {
		f.t.mu.Unlock()
		return
	}
	f.f.readers--
	cancel := f.f.cancel
	idle := f.f.readers == 0 && !f.f.g.finished
	if idle {
		f.t.removeLocked(f.f.g, ErrCancelled)
	}
	f.t.mu.Unlock()
	if idle && cancel != nil {
		cancel()
	}
}
