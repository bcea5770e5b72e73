package moq

import "time"

// TrackWriter is the writing side of a track.
type TrackWriter struct{ t *Track }

// Track is the reading side of the same track.
func (w *TrackWriter) Track() *Track { return w.t }

// Key is the track's name within its broadcast.
func (w *TrackWriter) Key() TrackKey { return w.t.key }

// SetInfo says once what the track is. Readers wait for it.
func (w *TrackWriter) SetInfo(info TrackInfo) {
	info.Timescale = max(info.Timescale, 1)
	info.MaxAge = w.t.cache.clamp(info.MaxAge)
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	if w.t.info == nil {
		w.t.info = &info
		w.t.notifyLocked()
	}
}

// Group starts a group. ErrDuplicate where that sequence is already there.
func (w *TrackWriter) Group(sequence uint64) (*GroupWriter, error) {
	return w.groupAt(sequence, 0)
}

// GroupAt starts a group whose first frames are missing: firstFrame is the index
// of the first that will be written.
func (w *TrackWriter) GroupAt(sequence uint64, firstFrame int) (*GroupWriter, error) {
	return w.groupAt(sequence, firstFrame)
}

func (w *TrackWriter) groupAt(sequence uint64, firstFrame int) (*GroupWriter, error) {
	t := w.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return nil, t.err
	}
	if t.ended && sequence >= t.end {
		return nil, ErrMalformed
	}
	if i := indexOf(t.groups, sequence); i < len(t.groups) && t.groups[i].Sequence == sequence {
		return nil, ErrDuplicate
	}
	g := &Group{Sequence: sequence, track: t, first: firstFrame}
	t.insertLocked(g)
	t.cache.charge(g, groupOverhead)
	return &GroupWriter{g}, nil
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
	t.notifyLocked()
}

// Abort ends the track with an error for everybody.
func (w *TrackWriter) Abort(err error) {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	w.t.closeLocked(err)
}

// Idle drops the groups still being written, when the supply stops because
// nobody wants the track; finished ones stay for a returning reader.
func (w *TrackWriter) Idle() {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	w.t.dropOpenLocked(ErrCancelled)
}

// Demand is what all subscribers of a track together want (moq-lite.md §14.4).
type Demand struct {
	Subscribers int           // and fetches that read off the feed
	Holders     int           // subscribers and whoever asks about the track or fetches
	Priority    uint8         // the highest
	MaxAge      time.Duration // the longest, at most the track's own
	Start       Start         // the lowest
	End         Limit         // the highest; open where any is open
}

// Demand returns the present demand, and a channel that gets a token whenever it
// has changed since.
func (w *TrackWriter) Demand() (Demand, <-chan struct{}) {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	d := w.t.wanted
	if w.t.info != nil {
		d.MaxAge = min(d.MaxAge, w.t.info.MaxAge)
	}
	return d, w.t.demandC
}

// redemandLocked recomputes the demand after a subscriber came, changed or left.
func (t *Track) redemandLocked() {
	var d Demand
	for i, s := range t.subs {
		o := &s.opts
		if i == 0 {
			d = Demand{Priority: o.Priority, MaxAge: o.MaxAge, Start: o.Start, End: o.End}
			continue
		}
		d.Priority = max(d.Priority, o.Priority)
		d.MaxAge = max(d.MaxAge, o.MaxAge)
		d.Start = d.Start.widen(o.Start)
		d.End = d.End.widen(o.End)
	}
	if len(t.subs) == 0 && t.feeding > 0 {
		d = t.wanted // a fetch goes on with what was there
	}
	d.Subscribers, d.Holders = len(t.subs)+t.feeding, t.holders+t.feeding
	if d == t.wanted {
		return
	}
	t.wanted = d
	select {
	case t.demandC <- struct{}{}:
	default:
	}
}
