package moq

import (
	"context"
	"slices"
	"strings"

	"github.com/moqmesh/moqmesh/cluster/route"
	"github.com/moqmesh/moqmesh/moq/wire"
)

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

// route is the reader in the table's words.
func (r Reader) route() route.Reader { return route.Reader{ID: r.ID, MaxHops: r.MaxHops} }

// Find returns the broadcast that serves a request for path: that of the deepest
// announced path that is path or a parent of it. suffix is what of path lies below.
// ErrUnroutable where there is none, or only through the reader.
func (o *Origin) Find(path string, r Reader) (b *Broadcast, suffix string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if b, suffix, _ = o.findLocked(path, r); b == nil {
		return nil, "", ErrUnroutable
	}
	return b, suffix, nil
}

// Await is Find, but where the way leads back through the reader and there is
// another, it waits for us to take that. Such a reader was told of the other way
// and has lost its own; that ours is lost with it, we hear a moment later. When ctx
// ends there is no way.
func (o *Origin) Await(ctx context.Context, path string, r Reader) (b *Broadcast, suffix string, err error) {
	for {
		o.mu.Lock()
		b, suffix, standby := o.findLocked(path, r)
		news := o.newsLocked()
		o.mu.Unlock()
		if b != nil {
			return b, suffix, nil
		}
		if !standby {
			return nil, "", ErrUnroutable
		}
		select {
		case <-news:
		case <-ctx.Done():
			return nil, "", ErrUnroutable
		}
	}
}

// findLocked: b is nil where there is no way; standby says that there is another.
func (o *Origin) findLocked(path string, r Reader) (b *Broadcast, suffix string, standby bool) {
	for at := path; ; at = parent(at) {
		if n := o.names[at]; n != nil && n.b != nil {
			if o.table.Usable(at, r.route()) {
				suffix, _ = wire.TrimPathPrefix(path, at)
				return n.b, suffix, false
			}
			_, ok := o.table.Source(at, r.route())
			standby = standby || ok
		}
		if at == "" {
			return nil, "", standby
		}
	}
}

// newsLocked is closed at the next change of any path.
func (o *Origin) newsLocked() <-chan struct{} {
	if o.news == nil {
		o.news = make(chan struct{})
	}
	return o.news
}

func parent(path string) string {
	return path[:max(strings.LastIndexByte(path, '/'), 0)]
}

// Len is the number of paths that something serves.
func (o *Origin) Len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.serving
}

// Paths lists the announced paths at or below prefix that r may see, sorted.
func (o *Origin) Paths(prefix string, r Reader) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.pathsLocked(prefix, r)
}

func (o *Origin) pathsLocked(prefix string, r Reader) []string {
	var paths []string
	for path, n := range o.names {
		if n.b != nil && visible(path, prefix, r) {
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
