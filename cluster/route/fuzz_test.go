package route

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// FuzzTable throws what comes at a table, and holds what it says to what must always
// hold. Each four bytes are one call.
func FuzzTable(f *testing.F) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		ops := make([]byte, 4*60)
		for i := range ops {
			ops[i] = byte(rng.Uint32())
		}
		f.Add(ops)
	}
	f.Fuzz(func(t *testing.T, ops []byte) {
		h := newHarness(t, ops)
		for ; len(ops) >= 4; ops = ops[4:] {
			h.call([4]byte(ops))
			h.check()
		}
		h.end()
	})
}

// harness drives a table with peers 1 to 6 and three names.
type harness struct {
	t     *testing.T
	d     *Table
	now   time.Time
	fresh Peer // counts on
	peers [6]Peer
}

const harnessSelf = 7

var harnessNames = []string{"a", "a/b", ""}

func newHarness(t *testing.T, ops []byte) *harness {
	cfg := Config{Self: harnessSelf, MaxHops: 4}
	if len(ops)%2 == 1 {
		cfg.Linger = 3 * time.Second
	}
	return &harness{t: t, d: New(cfg), now: time.Unix(1e9, 0)}
}

func (h *harness) call(op [4]byte) {
	i := int(op[1]) % len(h.peers)
	p, name := h.peers[i], harnessNames[int(op[1])/8%len(harnessNames)]
	if op[1]&0x80 != 0 {
		p = Own(uint64(i % 2))
	}
	switch op[0] % 10 {
	case 0, 1, 2:
		changes, _ := h.d.Learn(h.now, p, name, h.route(op, i))
		h.sorted(changes)
	case 3:
		h.sorted(h.d.Withdraw(h.now, p, name))
	case 4:
		h.sorted(h.d.Lose(h.now, p))
	case 5:
		h.fresh++
		h.peers[i] = h.fresh
		h.sorted(h.d.SetLink(h.now, h.fresh, h.link(op, i)))
	case 6:
		h.sorted(h.d.SetLink(h.now, p, h.link(op, i)))
	case 7:
		h.sorted(h.d.Carry(h.now, name, op[2]&1 == 0))
	case 8:
		h.sorted(h.d.Feed(h.now, name, p, op[2]&1 == 0))
	case 9:
		h.now = h.now.Add(time.Duration(op[2]) * time.Duration(op[3]) * time.Millisecond)
		h.sorted(h.d.Advance(h.now))
	}
}

func (h *harness) route(op [4]byte, i int) Route {
	hops := []uint64{uint64(op[2] & 3), uint64(op[2] >> 2 & 3), uint64(op[2] >> 4 & 7), uint64(i + 1)}
	return Route{Hops: hops[op[2]>>7*2:], Warm: uint64(op[3] & 3), Cold: uint64(op[3] >> 2 & 3)}
}

func (h *harness) link(op [4]byte, i int) Link {
	return Link{
		ID: uint64(i + 1), Own: Price{uint64(op[2] & 3), op[2]&4 != 0}, Trusted: op[2]&8 != 0, Leaving: op[2]&0x30 == 0,
		WireCost: CostKind(op[3] % 3), Stamp: 100 + uint64(i),
	}
}

func (h *harness) sorted(changes []Change) {
	for i := range changes[:max(len(changes)-1, 0)] {
		if changes[i].Name >= changes[i+1].Name {
			h.t.Fatalf("changes %v are not sorted", changes)
		}
	}
}

// check asks everything.
func (h *harness) check() {
	if next := h.d.Next(); !next.IsZero() && next.Before(h.now.Add(-time.Minute)) {
		h.t.Fatalf("Next = %v, at %v", next, h.now)
	}
	for _, name := range harnessNames {
		serving, ok := h.d.Serving(name)
		list := h.d.Explain(name)
		if ok != (len(list) > 0 && list[0].State == Serving) || ok && serving.Peer != list[0].Peer {
			h.t.Fatalf("Serving(%q) = %v, %v; explained as %v", name, serving, ok, list)
		}
		for id := range uint64(8) {
			h.offered(name, id)
		}
	}
}

func (h *harness) offered(name string, id uint64) {
	r := Reader{ID: id, MaxHops: 3}
	c, ok := h.d.Offer(name, r)
	source, served := h.d.Source(name, r)
	switch {
	case !ok:
	case !served && id == 0:
		h.t.Fatalf("%q is offered to %d and not served", name, id)
	case len(c.Hops) >= 3, id != 0 && slices.Contains(c.Hops, id), slices.Contains(c.Hops, harnessSelf), repeats(c.Hops):
		h.t.Fatalf("%q is offered to %d over %v", name, id, c.Hops)
	case c.Warm > MaxCost || c.Cold > MaxCost:
		h.t.Fatalf("%q is offered at %d/%d", name, c.Warm, c.Cold)
	}
	if served && id != 0 && slices.Contains(source.Hops, id) {
		h.t.Fatalf("%q is served to %d over %v", name, id, source.Hops)
	}
}

// end lets everything end: nothing is left.
func (h *harness) end() {
	for p := range h.fresh {
		h.sorted(h.d.Lose(h.now, p+1))
	}
	for _, p := range []Peer{Local, Own(0), Own(1)} {
		h.d.Lose(h.now, p)
	}
	for _, name := range harnessNames {
		h.d.Carry(h.now, name, false)
	}
	for range 2 { // what lingers ends first, then its echo
		h.now = h.now.Add(time.Hour)
		h.d.Advance(h.now)
	}
	if d := h.d; len(d.names) != 0 || len(d.links) != 0 || len(d.chains) != 0 || len(d.agenda) != 0 {
		h.t.Fatalf("left over: %d names, %d links, %d chains, %d deadlines", len(d.names), len(d.links), len(d.chains), len(d.agenda))
	}
}
