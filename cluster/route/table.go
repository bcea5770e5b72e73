package route

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/moqmesh/moqmesh/moq/wire"
)

var (
	ErrLoop    = errors.New("hop list holds this relay or one relay twice")
	ErrTooLong = errors.New("hop list is longer than allowed")
	ErrNoLink  = errors.New("route from a peer without a link")
)

type Config struct {
	Self    uint64
	MaxHops int
	Linger  time.Duration
}

type rt struct {
	p   Peer
	raw Route
	bad bool
	c   Choice
	n   uint64
}
type Table struct {
	cfg   Config
	links map[Peer]Link
	names map[string][]*rt
	on    map[string]bool
	off   map[string]time.Time
	n     uint64
	now   time.Time
}

func New(cfg Config) *Table {
	if cfg.MaxHops == 0 {
		cfg.MaxHops = 32
	}
	return &Table{cfg: cfg, links: map[Peer]Link{}, names: map[string][]*rt{}, on: map[string]bool{}, off: map[string]time.Time{}}
}
func add(a, b uint64) uint64 { return min(min(a, MaxCost)+b, MaxCost) }
func (t *Table) price(name string, r *rt) {
	l := t.links[r.p]
	h := slices.Clone(r.raw.Hops)
	r.bad = false
	if !r.p.IsLocal() {
		if len(h) == 0 {
			h = []uint64{0}
		}
		if h[0] == 0 {
			h = append([]uint64{l.Stamp}, h...)
		}
	}
	for i, x := range h {
		if x != 0 && (x == t.cfg.Self || slices.Contains(h[:i], x)) {
			r.bad = true
		}
	}
	if len(h) > t.cfg.MaxHops {
		r.bad = true
	}
	w, c := r.raw.Warm, r.raw.Cold
	if l.WireCost == CostNone && !r.p.IsLocal() {
		w, c = uint64(len(r.raw.Hops)-1), uint64(len(r.raw.Hops)-1)
	}
	pr := l.price()
	if r.p.IsLocal() {
		pr = 0
	}
	r.c = Choice{Peer: r.p, Hops: h, Warm: add(w, pr), Cold: add(c, pr)}
	if l.Leaving {
		r.c.Warm, r.c.Cold = MaxCost, MaxCost
	}
}
func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
func (t *Table) sort(name string) {
	slices.SortFunc(t.names[name], func(a, b *rt) int {
		h := func(r *rt) uint64 {
			if !t.links[r.p].Trusted || r.p.IsLocal() {
				return 0
			}
			return wire.RouteHash(name, r.c.Hops)
		}
		return cmp.Or(cmp.Compare(b2i(a.bad), b2i(b.bad)), cmp.Compare(b2i(slices.Contains(a.c.Hops, 0)), b2i(slices.Contains(b.c.Hops, 0))), cmp.Compare(a.c.Warm, b.c.Warm), cmp.Compare(a.c.Cold, b.c.Cold),
			cmp.Compare(b2i(!a.p.IsLocal()), b2i(!b.p.IsLocal())), cmp.Compare(len(a.c.Hops), len(b.c.Hops)), cmp.Compare(h(a), h(b)), cmp.Compare(b.n, a.n))
	})
}
func (t *Table) SetLink(now time.Time, p Peer, l Link) (ch []Change) {
	t.now = now
	t.links[p] = l
	for name, rs := range t.names {
		for _, r := range rs {
			if r.p == p {
				t.price(name, r)
				ch = append(ch, Change{Name: name})
			}
		}
	}
	for _, c := range ch {
		t.sort(c.Name)
	}
	return ch
}
func (t *Table) Learn(now time.Time, p Peer, name string, r Route) ([]Change, error) {
	t.now = now
	t.n++
	i := slices.IndexFunc(t.names[name], func(r *rt) bool { return r.p == p })
	x := &rt{p: p}
	if i >= 0 {
		x = t.names[name][i]
	} else {
		t.names[name] = append(t.names[name], x)
	}
	x.raw, x.n = Route{slices.Clone(r.Hops), r.Warm, r.Cold}, t.n
	t.price(name, x)
	t.sort(name)
	return []Change{{Name: name}}, nil
}
func (t *Table) Withdraw(now time.Time, p Peer, name string) []Change {
	t.now = now
	t.names[name] = slices.DeleteFunc(t.names[name], func(r *rt) bool { return r.p == p })
	return []Change{{Name: name}}
}
func (t *Table) Lose(now time.Time, p Peer) (ch []Change) {
	t.now = now
	for name, rs := range t.names {
		if slices.ContainsFunc(rs, func(r *rt) bool { return r.p == p }) {
			t.Withdraw(now, p, name)
			ch = append(ch, Change{Name: name})
		}
	}
	return ch
}
func (t *Table) Carry(now time.Time, name string, on bool) []Change {
	t.now = now
	if t.on[name] == on {
		return nil
	}
	t.on[name] = on
	if !on {
		t.off[name] = now.Add(5 * time.Second)
	} else {
		delete(t.off, name)
	}
	return []Change{{Name: name}}
}
func (t *Table) Advance(now time.Time) (ch []Change) {
	t.now = now
	for n, at := range t.off {
		if !now.Before(at) {
			delete(t.off, n)
			ch = append(ch, Change{Name: n})
		}
	}
	return ch
}
func (t *Table) Next() (at time.Time) {
	for _, x := range t.off {
		if at.IsZero() || x.Before(at) {
			at = x
		}
	}
	return at
}
func (t *Table) Serving(name string) (Choice, bool) {
	for _, r := range t.names[name] {
		if !r.bad {
			return r.c, true
		}
	}
	return Choice{}, false
}
func (t *Table) through(c Choice, r Reader) bool {
	return r.ID != 0 && (t.links[c.Peer].ID == r.ID || slices.Contains(c.Hops, r.ID))
}
func (t *Table) Source(name string, r Reader) (Choice, bool) {
	for _, x := range t.names[name] {
		if !x.bad && !t.through(x.c, r) {
			return x.c, true
		}
	}
	return Choice{}, false
}
func (t *Table) Usable(name string, r Reader) bool {
	c, ok := t.Serving(name)
	return ok && !t.through(c, r)
}
func (t *Table) Offer(name string, r Reader) (Choice, bool) {
	mh := t.cfg.MaxHops
	if r.MaxHops > 0 {
		mh = min(mh, r.MaxHops)
	}
	for i, x := range t.names[name] {
		if !x.bad && !t.through(x.c, r) && len(x.c.Hops) < mh {
			c := x.c
			if i == 0 && (t.on[name] || !t.off[name].IsZero()) {
				c.Warm = 0
			}
			return c, true
		}
	}
	return Choice{}, false
}
func (t *Table) Explain(name string) []Candidate   { return nil }
func (t *Table) Names(each func(name string) bool) {}
