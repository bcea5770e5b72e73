package moq

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/cluster/route"
	"github.com/moqmesh/moqmesh/moq/wire"
)

// MaxHops is the longest hop list on any wire.
const MaxHops = 32

// MaxCost is where route costs saturate.
const MaxCost = route.MaxCost

// Origin is a name space of broadcasts: for each path the routes that lead to it,
// and the broadcast that the chosen one serves. Sessions join it, announce into it
// and read from it. What passes with time (holds, grace periods) happens in
// Advance, which somebody has to call when Due says: see session.Keep.
type Origin struct {
	id    uint64
	cache *Cache

	keeper chan struct{} // holds a token while somebody calls Advance
	moving sync.Mutex    // held while moves are made, so that they are made in order

	mu       sync.Mutex // guards what follows
	table    *route.Table
	now      time.Time // the newest that we were told; some time in the past before that
	joined   uint64    // connections and publications so far
	names    map[string]*name
	serving  int // names that something serves
	watchers []*Watcher
	carries  map[string]struct{} // paths whose readers came or left since Advance
	moves    []func()            // broadcasts to move or end, not done yet
	news     chan struct{}       // closed at the next change; nil while nobody waits
	duec     chan struct{}       // has a token when Due may have changed
}

// name is an announced path. Guarded by Origin.mu.
type name struct {
	supplies []supply   // one for each connection that announces it
	serving  route.Peer // whose supply feeds b
	b        *Broadcast // nil while nothing serves
	from     uint64     // the publisher of b
}

// supply is what one connection has under a path: a source to make a broadcast
// from, or this process a broadcast of its own.
type supply struct {
	peer   route.Peer
	source Source
	own    *Broadcast
}

func (n *name) supply(p route.Peer) (s supply, ok bool) {
	for _, s := range n.supplies {
		if s.peer == p {
			return s, true
		}
	}
	return s, false
}

func (n *name) drop(p route.Peer) {
	n.supplies = slices.DeleteFunc(n.supplies, func(s supply) bool { return s.peer == p })
}

// NewOrigin returns an empty name space. id is the hop id of this process, 1 to
// 2^62-1 (below 2^53 for old browsers); 0 withholds it.
func NewOrigin(id uint64, cache *Cache) *Origin {
	return NewRoutedOrigin(route.Config{Self: id}, cache)
}

// NewRoutedOrigin is NewOrigin for a relay that bounds its routes.
func NewRoutedOrigin(cfg route.Config, cache *Cache) *Origin {
	return &Origin{
		id: cfg.Self, cache: cache, table: route.New(cfg), names: make(map[string]*name),
		carries: make(map[string]struct{}), now: time.Unix(0, 0), duec: make(chan struct{}, 1), keeper: make(chan struct{}, 1),
	}
}

// ID is the hop id of this process.
func (o *Origin) ID() uint64 { return o.id }

// Cache bounds what the origin's broadcasts hold.
func (o *Origin) Cache() *Cache { return o.cache }

// update runs f on the table at now and does what follows from it: watchers are
// told, broadcasts move to other routes.
func (o *Origin) update(now time.Time, f func(now time.Time) []route.Change) {
	o.mu.Lock()
	if now.After(o.now) {
		o.now = now
	}
	due := o.table.Next()
	for _, c := range f(o.now) {
		o.settleLocked(c.Name)
	}
	if !o.table.Next().Equal(due) {
		o.signalLocked()
	}
	moving := len(o.moves) > 0
	o.mu.Unlock()
	if moving {
		o.move()
	}
}

// move makes the moves that are due, one after the other.
func (o *Origin) move() {
	o.moving.Lock()
	defer o.moving.Unlock()
	o.mu.Lock()
	moves := o.moves
	o.moves = nil
	o.mu.Unlock()
	for _, f := range moves {
		f()
	}
}

func (o *Origin) signalLocked() {
	select {
	case o.duec <- struct{}{}:
	default:
	}
}

// settleLocked brings a path in step with the table.
func (o *Origin) settleLocked(path string) {
	if n := o.names[path]; n != nil {
		o.serveLocked(path, n)
		if len(n.supplies) == 0 && n.b == nil {
			delete(o.names, path)
		}
	}
	o.changedLocked(path)
}

// serveLocked makes the serving route's supply feed the path's broadcast. Another
// route to the same publisher goes on with it; another publisher has a new one,
// and what runs on the old one ends (moq-lite.md §14.6).
func (o *Origin) serveLocked(path string, n *name) {
	best, ok := o.table.Serving(path)
	if !ok {
		o.replaceLocked(n, nil)
		n.serving, n.from = 0, 0
		return
	}
	s, here := n.supply(best.Peer)
	switch {
	case !here || best.Peer == n.serving && n.b != nil: // lingering, or as before
	case s.own != nil:
		o.replaceLocked(n, s.own)
		o.carryLocked(path, s.own)
	case n.b != nil && n.b.moves && n.from == best.Publisher():
		b, now := n.b, o.now
		o.moves = append(o.moves, func() { b.reroute(s.source, now) })
	default:
		b := NewBroadcast(o.cache, s.source)
		b.moves = true
		o.replaceLocked(n, b)
		o.carryLocked(path, b)
	}
	n.serving, n.from = best.Peer, best.Publisher()
}

// replaceLocked puts b, which may be nil, in the place of what was served.
func (o *Origin) replaceLocked(n *name, b *Broadcast) {
	old := n.b
	n.b = b
	if b != nil && old == nil {
		o.serving++
	} else if b == nil && old != nil {
		o.serving--
	}
	if old == nil || old == b {
		return
	}
	old.carried.changed.Store(nil)
	switch {
	case !old.moves: // a publisher of this process ends its broadcasts itself
	case b == nil:
		o.moves = append(o.moves, old.detach)
	default:
		o.moves = append(o.moves, func() { old.Close(ErrUnroutable) })
	}
}

// carryLocked has the price of path follow the readers of b.
func (o *Origin) carryLocked(path string, b *Broadcast) {
	changed := func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.carries[path] = struct{}{}
		o.signalLocked()
	}
	b.carried.changed.Store(&changed)
	o.carries[path] = struct{}{}
	o.signalLocked()
}

// Claim makes the caller the one who calls Advance, until release. It waits for
// another to release it; ok is false where ctx ends first.
func (o *Origin) Claim(ctx context.Context) (release func(), ok bool) {
	select {
	case o.keeper <- struct{}{}:
		return func() { <-o.keeper }, true
	case <-ctx.Done():
		return nil, false
	}
}

// Advance does what is due at now.
func (o *Origin) Advance(now time.Time) {
	o.update(now, func(now time.Time) []route.Change {
		changes := o.table.Advance(now)
		for _, path := range slices.Sorted(maps.Keys(o.carries)) {
			n := o.names[path]
			changes = append(changes, o.table.Carry(now, path, n != nil && n.b != nil && n.b.carried.on())...)
		}
		clear(o.carries)
		return changes
	})
}

// Due is when Advance has something to do next; zero = nothing. changed gets a
// token when that may have become another time.
func (o *Origin) Due() (at time.Time, changed <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.carries) > 0 {
		return o.now, o.duec
	}
	return o.table.Next(), o.duec
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
	if o.news != nil {
		close(o.news)
		o.news = nil
	}
}

// Explain lists every route to path, the best first, with what decided.
func (o *Origin) Explain(path string) []route.Candidate {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.table.Explain(path)
}
