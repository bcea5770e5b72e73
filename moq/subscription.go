package moq

import (
	"context"
	"slices"
	"time"
)

// Unlimited is a MaxAge that skips nothing.
const Unlimited = time.Duration(1<<63 - 1)

// Start says where a subscription begins (moq-lite.md §14.3).
type Start struct {
	// Kind chooses the rule; the zero value is the latest group.
	Kind StartKind
	// Group is the lowest sequence wanted; only for StartAt.
	Group uint64
	// Frame is the first frame wanted inside Group; only for StartAt.
	Frame uint64
}

// StartKind is a rule for the first group of a subscription.
type StartKind uint8

const (
	// StartLatest begins at the newest group and takes later ones only.
	StartLatest StartKind = iota
	// StartFresh begins at the oldest group that is not stale.
	StartFresh
	// StartAt begins at a given group, as far as it is not stale.
	StartAt
)

// widen returns a start that serves both.
func (s Start) widen(o Start) Start {
	switch {
	case s == o:
		return s
	case s.Kind == StartAt && o.Kind == StartAt:
		if o.Group < s.Group || o.Group == s.Group && o.Frame < s.Frame {
			s = o
		}
		return s
	case s.Kind == StartFresh || o.Kind == StartFresh:
		return Start{Kind: StartFresh}
	}
	return Start{} // a latest and a position: the live edge, the rest is fetched or cached
}

// Limit is an optional inclusive bound.
type Limit struct {
	Set bool
	V   uint64
}

func (l Limit) widen(o Limit) Limit {
	if !l.Set || !o.Set {
		return Limit{}
	}
	return Limit{Set: true, V: max(l.V, o.V)}
}

// SubscribeOptions are a reader's wishes. The zero value takes the live edge.
type SubscribeOptions struct {
	// Priority ranks the track against others of the same reader, higher first.
	Priority uint8
	// MaxAge is how far behind the live edge, in media time, a group is still
	// worth sending. Zero: the live edge only. The track's own bound applies too.
	MaxAge time.Duration
	// Start says where to begin.
	Start Start
	// End pauses the subscription after that group; raise it to go on.
	End Limit
	// EndFrame is the last frame wanted inside End's group.
	EndFrame Limit
}

// Subscription is one reader's cursor over a track. One goroutine uses it at a time.
type Subscription struct {
	t    *Track
	wake func()

	// Guarded by t.mu.
	opts    SubscribeOptions
	next    uint64   // arrival number to look at next
	floor   uint64   // lowest sequence to serve
	pinned  bool     // floor was set by the first group served
	parked  []*Group // above End, in order of arrival
	gram    uint64   // datagrams up to here were seen
	closed  bool
	skipped Amount // passed over as stale, or gone before its turn
}

// subscribeLocked attaches a reader.
func (t *Track) subscribeLocked(opts SubscribeOptions, wake func()) *Subscription {
	s := &Subscription{t: t, wake: wake, opts: opts, gram: t.grams.count}
	s.seekLocked()
	t.subs = append(t.subs, s)
	t.holders++
	t.redemandLocked()
	return s
}

// seekLocked places the cursor according to the start rule.
func (s *Subscription) seekLocked() {
	t := s.t
	s.parked = nil
	s.next = t.arrived - uint64(len(t.arrivals))
	switch s.opts.Start.Kind {
	case StartAt:
		s.floor = s.opts.Start.Group
	case StartLatest:
		if g := t.edgeLocked(); g != nil {
			s.next, s.floor, s.pinned = g.arrival, g.Sequence, true
		}
	}
}

// Update replaces all wishes. Groups that were served are not served again.
func (s *Subscription) Update(opts SubscribeOptions) {
	t := s.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if opts.Start != s.opts.Start {
		s.opts.Start = opts.Start
		s.moveFloorLocked()
	}
	s.opts = opts
	t.redemandLocked()
	t.notifyLocked()
}

func (s *Subscription) moveFloorLocked() {
	switch s.opts.Start.Kind {
	case StartAt:
		s.floor = s.opts.Start.Group
	case StartFresh:
		s.floor = 0
	case StartLatest:
		if g := s.t.edgeLocked(); g != nil {
			s.floor = max(s.floor, g.Sequence)
		}
	}
}

// Close detaches the reader.
func (s *Subscription) Close() {
	if s.detach() {
		s.t.b.carried.add(-1)
	}
}

// detach takes the reader off the track; false if it was off already.
func (s *Subscription) detach() bool {
	t := s.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.closed {
		return false
	}
	s.closed = true
	i := slices.Index(t.subs, s)
	t.subs = slices.Delete(t.subs, i, i+1)
	s.parked = nil
	t.holders--
	t.redemandLocked()
	return true
}

// Track is what the subscription reads.
func (s *Subscription) Track() *Track { return s.t }

// Skipped is what was passed over because it was stale. Of groups that were gone
// from the track before their turn only the number is known.
func (s *Subscription) Skipped() Amount {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	return s.skipped
}

// Next returns a cursor on the next group to serve, in order of arrival; ok is
// false when there is none now.
func (s *Subscription) Next() (r GroupReader, ok bool) {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	return s.nextLocked()
}

func (s *Subscription) nextLocked() (r GroupReader, ok bool) {
	for i, g := range s.parked {
		if g.err == nil && !s.aboveLocked(g) {
			s.parked = slices.Delete(s.parked, i, i+1)
			if r, ok = s.serveLocked(g); ok {
				return r, true
			}
			return s.nextLocked()
		}
	}
	for ; s.next < s.t.arrived; s.next++ {
		g := s.t.arrivalLocked(s.next)
		if g == nil {
			s.skipped.Groups++
			continue
		}
		if s.aboveLocked(g) {
			s.parkLocked(g)
			continue
		}
		if r, ok = s.serveLocked(g); ok {
			s.next++
			return r, true
		}
	}
	return r, false
}

func (s *Subscription) aboveLocked(g *Group) bool {
	return s.opts.End.Set && g.Sequence > s.opts.End.V
}

// parkLocked remembers g for when End is raised, and forgets those that are gone.
func (s *Subscription) parkLocked(g *Group) {
	s.parked = slices.DeleteFunc(s.parked, func(p *Group) bool { return p.err != nil })
	s.parked = append(s.parked, g)
}

// serveLocked decides on g: below the floor, stale and headless groups are passed over.
func (s *Subscription) serveLocked(g *Group) (r GroupReader, ok bool) {
	if g.Sequence < s.floor {
		return r, false
	}
	if s.staleLocked(g) {
		s.skipped.add(g)
		return r, false
	}
	start := 0
	if s.opts.Start.Kind == StartAt && g.Sequence == s.opts.Start.Group {
		start = int(min(s.opts.Start.Frame, MaxFrames))
	}
	if r, ok = newGroupReaderLocked(g, start); !ok {
		return r, false
	}
	if s.opts.Start.Kind == StartLatest && !s.pinned {
		s.floor, s.pinned = g.Sequence, true
	}
	s.t.cache.touch(g)
	return r, true
}

func (s *Subscription) staleLocked(g *Group) bool {
	age := s.opts.MaxAge
	if s.t.info == nil || age == Unlimited {
		return false
	}
	return s.t.staleLocked(g, s.t.info.units(min(age, s.t.info.MaxAge)))
}

// Stale says whether what r reads has fallen too far behind to be worth sending.
func (s *Subscription) Stale(r *GroupReader) bool {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	return r.g.err == nil && s.staleLocked(r.g)
}

// NextDatagram returns the next datagram that the reader has not seen, as far as
// it is still here.
func (s *Subscription) NextDatagram() (d Datagram, ok bool) {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	d, s.gram, ok = s.t.grams.after(s.gram)
	return d, ok
}

// End says how the track stands for this reader: known once the publisher has
// said its end (one past the last group), complete once everything was handed
// out by Next, err when it ended early.
func (s *Subscription) End() (end uint64, known, complete bool, err error) {
	t := s.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return 0, false, false, t.err
	}
	complete = t.complete && s.next >= t.arrived &&
		!slices.ContainsFunc(s.parked, func(g *Group) bool { return g.err == nil })
	return t.end, t.ended, complete, nil
}

// NextGroup waits for the next group. ok is false, without an error, when the
// track is over.
func (s *Subscription) NextGroup(ctx context.Context) (r GroupReader, ok bool, err error) {
	over := false
	err = s.t.wait(ctx, func() bool {
		if r, ok = s.nextLocked(); ok {
			return true
		}
		over = s.t.complete
		return over || s.t.err != nil || s.closed
	})
	if err == nil && !ok && !over {
		err = s.endErr()
	}
	return r, ok, err
}

func (s *Subscription) endErr() error {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	if s.t.err != nil {
		return s.t.err
	}
	return ErrCancelled
}
