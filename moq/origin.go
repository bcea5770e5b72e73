package moq

import (
	"slices"
	"strings"
	"sync"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Origin is a name space of broadcasts: for each path the routes that lead to it.
// Sessions announce into it and read from it.
type Origin struct {
	id    uint64
	cache *Cache

	mu       sync.Mutex
	names    map[string][]*entry // by path; best first
	arrivals uint64
	watchers []*Watcher
}

// entry is one announced route. Guarded by Origin.mu.
type entry struct {
	path      string
	route     Route
	broadcast *Broadcast
	arrival   uint64
}

// NewOrigin returns an empty name space. id is the hop id of this process, 1 to
// 2^62-1 (below 2^53 for old browsers); 0 withholds it.
func NewOrigin(id uint64, cache *Cache) *Origin {
	return &Origin{id: id, cache: cache, names: make(map[string][]*entry)}
}

// ID is the hop id of this process.
func (o *Origin) ID() uint64 { return o.id }

// Cache bounds what the origin's broadcasts hold.
func (o *Origin) Cache() *Cache { return o.cache }

// Announcement is the announcing side's handle on one route.
type Announcement struct {
	o *Origin
	e *entry
}

// Announce adds a route to a broadcast. path is clean (see wire.CleanPath). It
// also answers requests for paths below it, unless a deeper path is announced.
func (o *Origin) Announce(path string, b *Broadcast, r Route) *Announcement {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := &entry{path: path, route: r, broadcast: b}
	o.insertLocked(e)
	return &Announcement{o, e}
}

// Publish announces a broadcast of this process at no cost.
func (o *Origin) Publish(path string, b *Broadcast) *Announcement {
	return o.Announce(path, b, Route{})
}

func (o *Origin) insertLocked(e *entry) {
	o.arrivals++
	e.arrival = o.arrivals
	list := append(o.names[e.path], e)
	slices.SortFunc(list, func(a, b *entry) int { return compareRoutes(e.path, a, b) })
	o.names[e.path] = list
	o.changedLocked(e.path)
}

func (o *Origin) deleteLocked(e *entry) bool {
	list := o.names[e.path]
	i := slices.Index(list, e)
	if i < 0 {
		return false
	}
	if list = slices.Delete(list, i, i+1); len(list) == 0 {
		delete(o.names, e.path)
	} else {
		o.names[e.path] = list
	}
	return true
}

// Update replaces the route in place: subscriptions stay.
func (a *Announcement) Update(r Route) {
	a.o.mu.Lock()
	defer a.o.mu.Unlock()
	if a.o.deleteLocked(a.e) {
		a.e.route = r
		a.o.insertLocked(a.e)
	}
}

// Withdraw removes the route. Running subscriptions go on as long as the
// broadcast serves them; new ones do not come this way. Later calls do nothing.
func (a *Announcement) Withdraw() {
	a.o.mu.Lock()
	defer a.o.mu.Unlock()
	if a.o.deleteLocked(a.e) {
		a.o.changedLocked(a.e.path)
	}
}

// Path is what was announced.
func (a *Announcement) Path() string { return a.e.path }

// Reader is who asks: what it may not be led through and what it may see.
type Reader struct {
	// ID is its hop id, or the id assigned to its connection: routes through it
	// are not for it. 0 = cannot be on any route.
	ID uint64
	// MaxHops bounds the hop lists it is told of, our own hop included; 0 = MaxHops.
	MaxHops int
	// Hidden also shows names with a segment that starts with a dot below the
	// prefix it watches.
	Hidden bool
	// Allow limits the paths it may see; nil = all.
	Allow func(path string) bool
}

// Find returns the broadcast that serves a request for path: the best usable
// route of the deepest announced path that is path or a parent of it. suffix is
// what of path lies below. ErrUnroutable where there is none.
func (o *Origin) Find(path string, r Reader) (b *Broadcast, suffix string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	e, suffix := o.coverLocked(path, r, false)
	if e == nil {
		return nil, "", ErrUnroutable
	}
	return e.broadcast, suffix, nil
}

// coverLocked is the best route that r can use to the deepest path that is path or
// above it; nil where there is none.
func (o *Origin) coverLocked(path string, r Reader, forwardable bool) (e *entry, suffix string) {
	for at := path; ; at = parent(at) {
		if e := o.bestLocked(at, r, forwardable); e != nil {
			suffix, _ = wire.TrimPathPrefix(path, at)
			return e, suffix
		}
		if at == "" {
			return nil, ""
		}
	}
}

func parent(path string) string {
	return path[:max(strings.LastIndexByte(path, '/'), 0)]
}

// bestLocked is the best route to exactly path that r can use; forwardable asks
// that there is also room for our own hop on its list.
func (o *Origin) bestLocked(path string, r Reader, forwardable bool) *entry {
	limit := MaxHops
	if r.MaxHops > 0 {
		limit = r.MaxHops
	}
	for _, e := range o.names[path] {
		if !e.route.through(r.ID) && (!forwardable || len(e.route.Hops) < limit) {
			return e
		}
	}
	return nil
}

// Len is the number of announced paths.
func (o *Origin) Len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.names)
}

// Paths lists the announced paths at or below prefix that r may see, sorted.
func (o *Origin) Paths(prefix string, r Reader) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.pathsLocked(prefix, r)
}

func (o *Origin) pathsLocked(prefix string, r Reader) []string {
	var paths []string
	for path := range o.names {
		if visible(path, prefix, r) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// visible says whether a reader that watches prefix may learn of path.
func visible(path, prefix string, r Reader) bool {
	suffix, ok := wire.TrimPathPrefix(path, prefix)
	if !ok {
		return false
	}
	if !r.Hidden && (strings.HasPrefix(suffix, ".") || strings.Contains(suffix, "/.")) {
		return false
	}
	return r.Allow == nil || r.Allow(path)
}

// changedLocked tells the watchers that path changed.
func (o *Origin) changedLocked(path string) {
	for _, w := range o.watchers {
		if visible(path, w.prefix, w.reader) {
			w.markLocked(path)
		} else if _, above := wire.TrimPathPrefix(w.prefix, path); above && path != w.prefix && w.mayCover() {
			w.markLocked(w.prefix)
		}
	}
}
