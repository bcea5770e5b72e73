package moq

import (
	"context"
	"slices"

	"github.com/moqmesh/moqmesh/cluster/route"
	"github.com/moqmesh/moqmesh/moq/wire"
)

// Change is what happened to a path in a watcher's eyes.
type Change uint8

const (
	// Started: the path was not there and now is.
	Started Change = iota
	// Updated: same publisher, other hops or cost.
	Updated
	// Replaced: another publisher took the path over; what runs on the old one
	// does not go on.
	Replaced
	// Ended: the path is gone.
	Ended
)

// Event is one change of a watched path.
type Event struct {
	Path      string // absolute
	Suffix    string // below the watched prefix
	Change    Change
	Route     route.Choice // as the reader is told; not for Ended
	Rerouted  bool         // with Updated: the hops are others, and not only the price
	Broadcast *Broadcast   // nil where requests are not served this way yet, see Await
	// Below is what of Path lies below what is announced, for TrackKey.Suffix. Not
	// empty only where the watched prefix is inside a broadcast.
	Below string
}

// Watcher follows the announcements at and below a prefix for one reader. Where
// nothing announces the prefix itself, the nearest path above stands for it. It
// remembers which paths changed, not how often: its memory is bounded by the
// number of paths. One goroutine reads it at a time.
type Watcher struct {
	o      *Origin
	prefix string
	reader Reader
	wakec  chan struct{}

	// Guarded by o.mu.
	told  map[string]*told // as last reported
	dirty map[string]struct{}
	queue []string // dirty paths, in order of change
}

// told is what a reader was told of a path.
type told struct {
	route route.Choice
	b     *Broadcast // nil where it was told of a standby
}

// Watch begins with all paths that are there, sorted.
func (o *Origin) Watch(prefix string, r Reader) *Watcher {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := &Watcher{
		o: o, prefix: prefix, reader: r, wakec: make(chan struct{}, 1),
		told: make(map[string]*told), dirty: make(map[string]struct{}),
	}
	if t, _ := o.coverLocked(prefix, r); t != nil && w.mayCover() {
		w.markLocked(prefix)
	}
	for _, path := range o.pathsLocked(prefix, r) {
		w.markLocked(path)
	}
	o.watchers = append(o.watchers, w)
	return w
}

// mayCover says whether the reader may learn that a path above serves the prefix.
func (w *Watcher) mayCover() bool {
	return w.reader.Allow == nil || w.reader.Allow(w.prefix)
}

func (w *Watcher) markLocked(path string) {
	if _, ok := w.dirty[path]; ok {
		return
	}
	w.dirty[path] = struct{}{}
	w.queue = append(w.queue, path)
	select {
	case w.wakec <- struct{}{}:
	default:
	}
}

// Close stops watching.
func (w *Watcher) Close() {
	w.o.mu.Lock()
	defer w.o.mu.Unlock()
	if i := slices.Index(w.o.watchers, w); i >= 0 {
		w.o.watchers = slices.Delete(w.o.watchers, i, i+1)
	}
}

// Pending is the number of paths that have changed and were not read.
func (w *Watcher) Pending() int {
	w.o.mu.Lock()
	defer w.o.mu.Unlock()
	return len(w.queue)
}

// Changed gets a token when Next may have something.
func (w *Watcher) Changed() <-chan struct{} { return w.wakec }

// Next returns the next change; ok is false when there is none now.
func (w *Watcher) Next() (ev Event, ok bool) {
	w.o.mu.Lock()
	defer w.o.mu.Unlock()
	for len(w.queue) > 0 {
		path := w.queue[0]
		w.queue = w.queue[1:]
		delete(w.dirty, path)
		if ev, ok = w.reportLocked(path); ok {
			return ev, true
		}
	}
	return Event{}, false
}

// Wait waits for the next change.
func (w *Watcher) Wait(ctx context.Context) (Event, error) {
	for {
		if ev, ok := w.Next(); ok {
			return ev, nil
		}
		select {
		case <-w.wakec:
		case <-ctx.Done():
			return Event{}, context.Cause(ctx)
		}
	}
}

// reportLocked compares path with what was told last.
func (w *Watcher) reportLocked(path string) (ev Event, ok bool) {
	suffix, _ := wire.TrimPathPrefix(path, w.prefix)
	ev = Event{Path: path, Suffix: suffix}
	old, now := w.told[path], w.o.offerLocked(path, w.reader)
	if now == nil && path == w.prefix {
		now, ev.Below = w.o.coverLocked(path, w.reader)
	}
	switch {
	case now == nil && old == nil:
		return ev, false
	case now == nil:
		ev.Change = Ended
		delete(w.told, path)
		return ev, true
	case old == nil:
		ev.Change = Started
	case !old.goesOn(now):
		ev.Change = Replaced
	case old.b != now.b || !alike(old.route, now.route):
		ev.Change, ev.Rerouted = Updated, !slices.Equal(old.route.Hops, now.route.Hops)
	default:
		return ev, false
	}
	ev.Route, ev.Broadcast = now.route, now.b
	w.told[path] = now
	return ev, true
}

// alike says whether two routes look the same to a reader.
func alike(a, b route.Choice) bool {
	return a.Warm == b.Warm && a.Cold == b.Cold && slices.Equal(a.Hops, b.Hops)
}

// goesOn says whether a subscription may go on over the new route: it leads to the
// same broadcast, or at least to the same publisher.
func (t *told) goesOn(now *told) bool {
	if t.b != nil && now.b != nil {
		return t.b == now.b
	}
	return t.route.Publisher() != 0 && t.route.Publisher() == now.route.Publisher()
}

// offerLocked is what a reader should know of path; nil: nothing.
func (o *Origin) offerLocked(path string, r Reader) *told {
	c, ok := o.table.Offer(path, r.route())
	if !ok {
		return nil
	}
	offered := &told{route: c}
	if n := o.names[path]; n != nil && n.from == c.Publisher() {
		offered.b = n.b
	}
	return offered
}

// coverLocked is what a reader should know of the nearest announced path above.
func (o *Origin) coverLocked(path string, r Reader) (t *told, below string) {
	for at := path; ; at = parent(at) {
		if t := o.offerLocked(at, r); t != nil {
			below, _ = wire.TrimPathPrefix(path, at)
			return t, below
		}
		if at == "" {
			return nil, ""
		}
	}
}
