package moq

import (
	"slices"
	"sync"
	"time"
)

// Source supplies the tracks of a broadcast that lives elsewhere. Its methods
// are called without locks held and must not block.
type Source interface {
	// Open says that somebody wants this track. The source sets its info, writes
	// groups while Demand has subscribers, and ends it.
	Open(w *TrackWriter)
	// Fetch says that somebody wants one group that is not here, from frame on.
	// The source writes it to g and closes it, or aborts it. cancel is called
	// when nobody waits any more. A nil cancel: this source cannot fetch.
	Fetch(key TrackKey, g *GroupWriter, frame uint64, priority uint8) (cancel func())
}

// Broadcast is a set of tracks under one path.
type Broadcast struct {
	cache   *Cache
	sourced bool  // its tracks come from a source
	carried carry // told when the first reader comes and the last one leaves
	trial   trial // of the source that it has moved to, and of those on the way there

	mu     sync.Mutex
	source Source // nil where !sourced, and where no route leads to it any more
	proven Source // the last one that was not on trial; valid while trial runs
	moves  bool   // the origin changes source as routes change
	tracks map[TrackKey]*Track
	err    error // why it is closed
}

// NewBroadcast returns a broadcast whose tracks come from source, or only from
// Create where that is nil.
func NewBroadcast(cache *Cache, source Source) *Broadcast {
	return &Broadcast{cache: cache, source: source, sourced: source != nil, tracks: make(map[TrackKey]*Track)}
}

// Create adds a track of our own. ErrDuplicate where the name is taken by a live one.
func (b *Broadcast) Create(name string, info TrackInfo) (*TrackWriter, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := TrackKey{Name: name}
	if b.err != nil {
		return nil, b.err
	}
	if t := b.tracks[key]; t != nil && t.Err() == nil {
		return nil, ErrDuplicate
	}
	t, w := newTrack(key, b, nil)
	b.tracks[key] = t
	return w, w.SetInfo(info)
}

// open finds the track, or asks the source for it.
func (b *Broadcast) open(key TrackKey, use func(*Track)) error {
	b.mu.Lock()
	if b.err != nil {
		b.mu.Unlock()
		return b.err
	}
	t, source := b.tracks[key], b.source
	var w *TrackWriter
	if t == nil || t.Err() != nil && b.sourced {
		if source == nil {
			b.mu.Unlock()
			return b.absence()
		}
		t, w = newTrack(key, b, source)
		b.tracks[key] = t
	}
	t.mu.Lock()
	use(t)
	t.mu.Unlock()
	b.mu.Unlock()
	if w != nil {
		source.Open(w)
	}
	return nil
}

// absence is why a track cannot be opened where there is no source.
func (b *Broadcast) absence() error {
	if b.sourced {
		return ErrUnroutable
	}
	return ErrNotFound
}

// supply is where groups can be fetched from now; nil where nowhere.
func (b *Broadcast) supply() Source {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.source
}

// movable says whether a lost supply may be replaced by another.
func (b *Broadcast) movable() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.moves && b.source != nil && b.err == nil
}

// reroute moves the broadcast to another source. Tracks that somebody wants go on
// from there: the old supply is let go when the new one has begun.
func (b *Broadcast) reroute(source Source, now time.Time) {
	b.mu.Lock()
	if !b.trial.runs() {
		b.proven = b.source
	}
	b.source = source
	b.trial.begin(now)
	var moving []*TrackWriter
	for key, t := range b.tracks {
		t.mu.Lock()
		switch {
		case t.err != nil || t.complete:
		case t.holders+t.feeding == 0:
			t.orphan = true
			t.closeLocked(ErrClosed)
			delete(b.tracks, key)
		default:
			if f := t.moveLocked(source); f != nil {
				moving = append(moving, &TrackWriter{t, f})
			}
		}
		t.mu.Unlock()
	}
	b.mu.Unlock()
	for _, w := range moving {
		source.Open(w)
	}
}

// detach says that no route leads here any more. What runs goes on as long as its
// supply does, unless that has not passed its trial; nothing new begins.
func (b *Broadcast) detach() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.source = nil
	for key, t := range b.tracks {
		t.mu.Lock()
		if b.trial.runs() {
			t.rejectLocked(b.proven)
		}
		if len(t.feeds) == 0 && t.err == nil && !t.complete { // its supply is lost already
			t.orphan = true
			t.closeLocked(ErrClosed)
			delete(b.tracks, key)
		}
		t.mu.Unlock()
	}
}

// Subscribe starts reading a track. wake, if not nil, is called at every change,
// with locks held: it must neither block nor call back. Errors: ErrNotFound, or
// why the broadcast is closed. Failures that take time end the subscription.
func (b *Broadcast) Subscribe(key TrackKey, opts SubscribeOptions, wake func()) (s *Subscription, err error) {
	err = b.open(key, func(t *Track) { s = t.subscribeLocked(opts, wake) })
	if err == nil {
		b.carried.add(1)
	}
	return s, err
}

// Hold opens a track without reading it, to learn its info or fetch from it. The
// caller calls Drop when done.
func (b *Broadcast) Hold(key TrackKey) (t *Track, err error) {
	err = b.open(key, func(held *Track) {
		t = held
		t.holders++
		t.redemandLocked()
	})
	return t, err
}

// Drop undoes a Hold.
func (t *Track) Drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.holders--
	t.redemandLocked()
}

// release forgets the track of w if nobody wants it.
func (b *Broadcast) release(w *TrackWriter) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	if len(w.t.feeds) > 1 || !slices.Contains(w.t.feeds, w.feed) { // another one decides
		w.t.dropFeedLocked(w.feed)
		return true
	}
	if w.t.holders > 0 {
		return false
	}
	w.t.orphan = true
	if b.tracks[w.t.key] == w.t {
		delete(b.tracks, w.t.key)
	}
	w.t.closeLocked(ErrClosed)
	return true
}

// forget ends a track with err; a sourced one can be opened anew.
func (b *Broadcast) forget(t *Track, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closeLocked(err)
	if b.sourced && b.tracks[t.key] == t {
		delete(b.tracks, t.key)
	}
}

// Close ends the broadcast: tracks that are not complete end with err, requests
// are refused with it.
func (b *Broadcast) Close(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return
	}
	b.err = err
	for _, t := range b.tracks {
		t.mu.Lock()
		t.orphan = true
		t.closeLocked(err)
		t.mu.Unlock()
	}
	clear(b.tracks)
}

// Err is why the broadcast is closed; nil while it is open.
func (b *Broadcast) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}
