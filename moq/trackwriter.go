package moq

import "slices"

// TrackWriter is the writing side of a track: one feed of it.
type TrackWriter struct {
	t    *Track
	feed *feed
}

// Track is the reading side of the same track.
func (w *TrackWriter) Track() *Track { return w.t }

// Key is the track's name within its broadcast.
func (w *TrackWriter) Key() TrackKey { return w.t.key }

// SetInfo says once what the track is. Readers wait for it. ErrMalformed where
// another feed has said something else: then this one cannot go on from there.
func (w *TrackWriter) SetInfo(info TrackInfo) error {
	info.Timescale = max(info.Timescale, 1)
	info.MaxAge = w.t.cache.clamp(info.MaxAge)
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	switch {
	case w.t.info == nil:
		w.t.info = &info
		w.t.notifyLocked()
	case *w.t.info != info:
		return ErrMalformed
	}
	return nil
}

// Group starts a group. ErrDuplicate where that sequence is already there.
func (w *TrackWriter) Group(sequence uint64) (*GroupWriter, error) {
	return w.GroupAt(sequence, 0)
}

// GroupAt starts a group whose first frames are missing: firstFrame is the index
// of the first that will be written. A group that another feed has begun is gone
// on with. ErrCancelled: another feed brings the track now.
func (w *TrackWriter) GroupAt(sequence uint64, firstFrame int) (*GroupWriter, error) {
	t := w.t
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.err != nil:
		return nil, t.err
	case t.ended && sequence >= t.end:
		return nil, ErrMalformed
	case w.feed.retired:
		return nil, ErrCancelled
	}
	t.takeOverLocked(w.feed)
	g := t.findLocked(sequence)
	switch {
	case g == nil:
		g = &Group{Sequence: sequence, track: t, first: firstFrame}
		t.insertLocked(g)
		t.cache.charge(g, groupOverhead)
	case g.finished || slices.Contains(g.writers, w.feed) || firstFrame > g.first+len(g.frames):
		return nil, ErrDuplicate
	}
	g.joinLocked(w.feed)
	t.settleFeedsLocked()
	return &GroupWriter{g: g, feed: w.feed, at: firstFrame - g.first}, nil
}

// WriteGroup publishes a whole group at once, so that it can leave in one packet.
func (w *TrackWriter) WriteGroup(sequence uint64, frames ...Frame) error {
	g, err := w.Group(sequence)
	if err != nil {
		return err
	}
	for _, f := range frames {
		if err := g.append(f); err != nil {
			g.Abort(err)
			return err
		}
	}
	return g.Close()
}

// WriteDatagram publishes a datagram. It is handed to current subscribers and
// not cached beyond the newest 64.
func (w *TrackWriter) WriteDatagram(d Datagram) {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	if w.t.err == nil {
		w.t.grams.add(d)
		w.t.notifyLocked()
	}
}

// SetEnd says that no group of that sequence or above will come. Groups below
// may still be on their way until Finish. ErrMalformed where a later group was
// already seen.
func (w *TrackWriter) SetEnd(end uint64) error {
	t := w.t
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended, t.end = true, end
	t.notifyLocked()
	if last := t.lastLocked(); last != nil && last.Sequence >= end {
		return ErrMalformed
	}
	return nil
}

// Finish ends the track cleanly: whatever is here is all there is. Without a
// SetEnd before, the end is one past the newest group.
func (w *TrackWriter) Finish() {
	t := w.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil || t.complete {
		return
	}
	if !t.ended {
		t.ended, t.end = true, 0
		if last := t.lastLocked(); last != nil {
			t.end = last.Sequence + 1
		}
	}
	t.dropOpenLocked(ErrCancelled)
	t.complete = true
	t.dropFeedsLocked(w.feed)
	t.notifyLocked()
}
