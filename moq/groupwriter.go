package moq

import (
	"slices"
	"time"
)

// GroupWriter is the writing side of one group. One goroutine writes at a time.
//
// While a route changes, two feeds may bring the same group. Each has a writer of
// its own, which keeps count of what it has said: what another writer has said
// before is passed over, so the group goes on without a gap and nothing twice.
type GroupWriter struct {
	g    *Group
	feed *feed  // nil for a fetched group
	at   int    // index into g.frames of the frame that comes next; below 0 before the head
	left uint64 // payload of the frame begun last that is still to come
}

// Sequence is the group's number.
func (w *GroupWriter) Sequence() uint64 { return w.g.Sequence }

// Arrives says when the group began to arrive; the first writer to say so is right.
func (w *GroupWriter) Arrives(now time.Time) {
	w.g.track.mu.Lock()
	defer w.g.track.mu.Unlock()
	if w.g.came.IsZero() {
		w.g.came = now
	}
	if w.feed != nil {
		w.g.track.b.trial.brought(now)
	}
}

// BeginFrame starts a frame of exactly size bytes. Readers see it at the next
// Flush, WriteFrame or Close.
func (w *GroupWriter) BeginFrame(timestamp, size uint64) error {
	w.g.track.mu.Lock()
	defer w.g.track.mu.Unlock()
	return w.beginLocked(timestamp, size)
}

func (w *GroupWriter) beginLocked(timestamp, size uint64) error {
	g := w.g
	switch {
	case g.err != nil:
		return g.err
	case w.left > 0 || w.at > len(g.frames):
		return ErrWrongSize
	case w.at == len(g.frames):
		if err := g.beginLocked(timestamp, size); err != nil {
			return err
		}
	case w.at >= 0 && uint64(g.frames[w.at].size) != size:
		return ErrMalformed // not the group that the other feed brings
	}
	w.at++
	w.left = size
	return nil
}

// Write appends payload to the frame begun last, as much as has come.
func (w *GroupWriter) Write(p []byte) (int, error) {
	w.g.track.mu.Lock()
	defer w.g.track.mu.Unlock()
	if err := w.writeLocked(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *GroupWriter) writeLocked(p []byte) error {
	g := w.g
	if g.err != nil {
		return g.err
	}
	if uint64(len(p)) > w.left {
		return ErrWrongSize
	}
	w.left -= uint64(len(p))
	if w.at < len(g.frames) || g.pending <= w.left {
		return nil // here already
	}
	return g.writeLocked(p[uint64(len(p))-(g.pending-w.left):])
}

// Flush shows readers what was written.
func (w *GroupWriter) Flush() { w.g.track.groupChanged(w.g) }

// WriteFrame appends one whole frame and flushes.
func (w *GroupWriter) WriteFrame(f Frame) error {
	if err := w.append(f); err != nil {
		return err
	}
	w.Flush()
	return nil
}

func (w *GroupWriter) append(f Frame) error {
	w.g.track.mu.Lock()
	defer w.g.track.mu.Unlock()
	if err := w.beginLocked(f.Timestamp, uint64(len(f.Payload))); err != nil {
		return err
	}
	return w.writeLocked(f.Payload)
}

// Close says that the group is complete. In the middle of a frame it aborts the
// group with ErrWrongSize instead, and returns that.
func (w *GroupWriter) Close() error {
	if err := w.finish(); err != nil {
		w.Abort(err)
		return err
	}
	w.Flush()
	return nil
}

func (w *GroupWriter) finish() error {
	t := w.g.track
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case w.g.err != nil:
		return w.g.err
	case w.left > 0 || w.at != len(w.g.frames):
		return ErrWrongSize
	}
	w.g.finished = true
	for _, f := range w.g.writers {
		f.open--
	}
	w.g.writers = nil
	t.settleFeedsLocked()
	return nil
}

// Abort ends the group early: readers get err, and it may be asked for again.
// Where another feed brings it too, or may, it goes on from there.
func (w *GroupWriter) Abort(err error) { w.leave(err, false) }

// Lose says that the way to the publisher is gone: the group waits for its
// broadcast to move to another route, or to end.
func (w *GroupWriter) Lose(err error) { w.leave(err, w.g.track.b.movable()) }

func (w *GroupWriter) leave(err error, keep bool) {
	g, t := w.g, w.g.track
	t.mu.Lock()
	defer t.mu.Unlock()
	if g.err != nil || g.finished {
		return
	}
	g.leaveLocked(w.feed)
	if !keep && len(g.writers) == 0 && !t.otherFeedLocked(w.feed) {
		t.removeLocked(g, err)
		t.notifyLocked()
	}
	t.settleFeedsLocked()
}

// Err is why the group ended early, by whichever side; nil while it lives.
func (w *GroupWriter) Err() error {
	w.g.track.mu.Lock()
	defer w.g.track.mu.Unlock()
	return w.g.err
}

// joinLocked makes f a writer of the group.
func (g *Group) joinLocked(f *feed) {
	g.writers = append(g.writers, f)
	f.open++
}

func (g *Group) leaveLocked(f *feed) {
	if i := slices.Index(g.writers, f); i >= 0 {
		g.writers = slices.Delete(g.writers, i, i+1)
		f.open--
	}
}
