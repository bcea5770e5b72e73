package moq

import (
	"slices"
	"time"
)

// feed is one supply of a track. While the broadcast moves to another route a
// track has two: the older goes on until the newer has begun, and then only with
// groups that the newer does not bring. Guarded by track.mu.
type feed struct {
	source  Source        // who writes it; nil for what this process publishes
	demandC chan struct{} // has a token when the demand changed
	resume  *Start        // where it goes on for those who were there when it began; nil: where they want
	retired bool          // a newer feed has begun: no new groups, no demand once open is 0
	open    int           // groups under way that this feed writes
}

func newFeed(s Source) *feed { return &feed{source: s, demandC: make(chan struct{}, 1)} }

func (f *feed) signal() {
	select {
	case f.demandC <- struct{}{}:
	default:
	}
}

// moveLocked adds a feed that takes over as soon as it begins; nil where the track
// still has one from that source, and keeps it.
func (t *Track) moveLocked(to Source) *feed {
	for _, f := range t.feeds {
		if f.source == to && !f.retired {
			t.dropFeedsLocked(f)
			t.stranded = false
			return nil
		}
	}
	f := newFeed(to)
	f.resume = t.resumeLocked()
	t.feeds, t.stranded = append(t.feeds, f), false
	for len(t.feeds) > 2 { // moved again before the last move was through
		t.dropFeedLocked(t.feeds[0])
	}
	return f
}

// resumeLocked is where a new feed has to begin: at the oldest group that is not
// whole, else behind the newest. nil: nothing has come yet.
func (t *Track) resumeLocked() *Start {
	for _, g := range t.groups {
		if !g.finished {
			return &Start{Kind: StartAt, Group: g.Sequence}
		}
	}
	if last := t.lastLocked(); last != nil {
		return &Start{Kind: StartAt, Group: last.Sequence + 1}
	}
	return nil
}

// takeOverLocked retires every feed older than f: it has begun.
func (t *Track) takeOverLocked(f *feed) {
	for _, older := range t.feeds {
		if older == f {
			return
		}
		older.retired = true
	}
}

// settleFeedsLocked lets go of retired feeds that bring nothing any more that the
// newer one does not.
func (t *Track) settleFeedsLocked() {
	if len(t.feeds) < 2 {
		return
	}
	for _, f := range slices.Clone(t.feeds) {
		if f.retired && !t.soleWriterLocked(f) {
			t.dropFeedLocked(f)
		}
	}
}

// soleWriterLocked says whether some group comes from f alone.
func (t *Track) soleWriterLocked(f *feed) bool {
	return f.open > 0 && slices.ContainsFunc(t.groups, func(g *Group) bool {
		return len(g.writers) == 1 && g.writers[0] == f
	})
}

// dropFeedLocked ends a feed: its demand is none from now on.
func (t *Track) dropFeedLocked(f *feed) {
	f.retired = true
	t.feeds = slices.DeleteFunc(t.feeds, func(o *feed) bool { return o == f })
	for _, g := range t.groups {
		g.leaveLocked(f)
	}
	f.signal()
}

// rejectLocked ends every feed that does not come from a source that has proven
// itself. That one goes on after all.
func (t *Track) rejectLocked(proven Source) {
	for _, f := range slices.Clone(t.feeds) {
		if f.source == proven {
			f.retired = false
		} else {
			t.dropFeedLocked(f)
		}
	}
}

// dropFeedsLocked ends every feed but keep, which may be nil.
func (t *Track) dropFeedsLocked(keep *feed) {
	for _, f := range slices.Clone(t.feeds) {
		if f != keep {
			t.dropFeedLocked(f)
		}
	}
}

// otherFeedLocked says whether a feed other than f may bring what f does not. A
// fetched group comes by no feed.
func (t *Track) otherFeedLocked(f *feed) bool {
	return f != nil && slices.ContainsFunc(t.feeds, func(o *feed) bool { return o != f && !o.retired })
}

// Abort ends the track with an error for everybody, and forgets it, so that names
// that do not exist leave nothing behind. Where another feed brings the track,
// only this one ends.
func (w *TrackWriter) Abort(err error) {
	if last, _ := w.leave(); last {
		w.t.b.forget(w.t, err)
	}
}

// Lose says that the way to the publisher is gone, not the track. It waits for its
// broadcast to move to another route, or to end.
func (w *TrackWriter) Lose(err error) {
	if last, settled := w.leave(); last && (settled || !w.t.b.movable()) {
		w.t.b.forget(w.t, err)
	}
}

// leave takes the feed off the track. last: no other is left. settled: none will
// come, because the one that should have has failed, or the track is complete and
// unread.
func (w *TrackWriter) leave() (last, settled bool) {
	t := w.t
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.feeds, w.feed)
	if i < 0 {
		return false, false
	}
	newest := i == len(t.feeds)-1
	t.dropFeedLocked(w.feed)
	if newest && len(t.feeds) > 0 {
		t.stranded = true
		for _, f := range t.feeds { // it goes on after all
			f.retired = false
		}
	}
	return len(t.feeds) == 0, t.stranded || t.complete && t.holders == 0
}

// Release is the source's offer to forget a track that nobody wants. false:
// somebody does. After true the writer is finished with.
func (w *TrackWriter) Release() bool { return w.t.b.release(w) }

// Idle drops the groups still being written, when the supply stops because
// nobody wants the track; finished ones stay for a returning reader.
func (w *TrackWriter) Idle() {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	if slices.Contains(w.t.feeds, w.feed) && len(w.t.feeds) == 1 {
		w.t.dropOpenLocked(ErrCancelled)
	}
}

// Demand is what all subscribers of a track together want (moq-lite.md §14.4).
type Demand struct {
	Subscribers int           // and fetches that read off the feed
	Holders     int           // subscribers and whoever asks about the track or fetches
	Priority    uint8         // the highest
	MaxAge      time.Duration // the longest, at most the track's own
	Start       Start         // the lowest
	End         Limit         // the highest; open where any is open
	Over        bool          // nothing more is wanted of this feed, ever
}

// Demand returns the present demand on this feed, and a channel that gets a token
// whenever it has changed since.
func (w *TrackWriter) Demand() (Demand, <-chan struct{}) {
	t := w.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.feeds, w.feed) {
		return Demand{Over: true}, w.feed.demandC
	}
	d := t.wanted
	if t.info != nil {
		d.MaxAge = min(d.MaxAge, t.info.MaxAge)
	}
	if w.feed.resume != nil {
		d.Start = *w.feed.resume
	}
	return d, w.feed.demandC
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
	for _, f := range t.feeds {
		if d.Subscribers == 0 {
			f.resume = nil
		}
		f.signal()
	}
}
