package moq

import "sync"

// Source supplies the tracks of a broadcast that lives elsewhere. Its methods
// are called without locks held and must not block.
type Source interface {
	// Open says that somebody wants this track for the first time. The source
	// sets its info, writes groups while Demand has subscribers, and ends it.
	Open(w *TrackWriter)
	// Fetch says that somebody wants one group that is not here, from frame on.
	// The source writes it to g and closes it, or aborts it. cancel is called
	// when nobody waits any more. A nil cancel: this source cannot fetch.
	Fetch(w *TrackWriter, g *GroupWriter, frame uint64, priority uint8) (cancel func())
}

// Broadcast is a set of tracks under one path.
type Broadcast struct {
	cache  *Cache
	source Source

	mu     sync.Mutex
	tracks map[TrackKey]*Track
	err    error // why it is closed
}

// NewBroadcast returns a broadcast whose tracks come from source, or only from
// Create where that is nil.
func NewBroadcast(cache *Cache, source Source) *Broadcast {
	return &Broadcast{cache: cache, source: source, tracks: make(map[TrackKey]*Track)}
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
	w := &TrackWriter{newTrack(key, b.cache, nil)}
	w.SetInfo(info)
	b.tracks[key] = w.t
	return w, nil
}

// open finds the track, or asks the source for it.
func (b *Broadcast) open(key TrackKey, use func(*Track)) error {
	b.mu.Lock()
	if b.err != nil {
		b.mu.Unlock()
		return b.err
	}
	t := b.tracks[key]
	fresh := t == nil || t.Err() != nil && b.source != nil
	if fresh {
		if b.source == nil {
			b.mu.Unlock()
			return ErrNotFound
		}
		t = newTrack(key, b.cache, b.source)
		b.tracks[key] = t
	}
	t.mu.Lock()
	use(t)
	t.mu.Unlock()
	b.mu.Unlock()
	if fresh {
		b.source.Open(&TrackWriter{t})
	}
	return nil
}

// Subscribe starts reading a track. wake, if not nil, is called at every change,
// with locks held: it must neither block nor call back. Errors: ErrNotFound, or
// why the broadcast is closed. Failures that take time end the subscription.
func (b *Broadcast) Subscribe(key TrackKey, opts SubscribeOptions, wake func()) (s *Subscription, err error) {
	err = b.open(key, func(t *Track) { s = t.subscribeLocked(opts, wake) })
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

// Release is the source's offer to forget a track that nobody wants. false:
// somebody does. After true the writer is finished with.
func (b *Broadcast) Release(w *TrackWriter) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
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

// Forget drops a track that the source has aborted, so that names that do not
// exist leave nothing behind.
func (b *Broadcast) Forget(w *TrackWriter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tracks[w.t.key] == w.t {
		delete(b.tracks, w.t.key)
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
