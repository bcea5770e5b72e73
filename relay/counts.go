package relay

import (
	"sync"
	"sync/atomic"

	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/relay/auth"
)

// maxTiers bounds the tiers that are counted apart; others count as "other", so
// that an auth API cannot grow the metrics without end.
const maxTiers = 32

// tiers holds the traffic counters by tier.
type tiers struct {
	opened, closed atomic.Uint64 // sessions

	mu     sync.Mutex
	byName map[string]*session.Counters
}

func newTiers() *tiers {
	return &tiers{byName: map[string]*session.Counters{"": new(session.Counters)}}
}

func (t *tiers) counters(tier string) *session.Counters {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.byName[tier]; c != nil {
		return c
	}
	if len(t.byName) >= maxTiers {
		tier = "other"
	}
	c := t.byName[tier]
	if c == nil {
		c = new(session.Counters)
		t.byName[tier] = c
	}
	return c
}

// each calls f for every tier.
func (t *tiers) each(f func(tier string, c *session.Counters)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for tier, c := range t.byName {
		f(tier, c)
	}
}

// refusals counts sessions turned away, by a closed set of reasons.
type refusals struct{ byReason map[string]*atomic.Uint64 }

func newRefusals() *refusals {
	r := &refusals{byReason: make(map[string]*atomic.Uint64)}
	for _, reason := range append(auth.Codes(), refusedSessions, refusedAddress, "other") {
		r.byReason[reason] = new(atomic.Uint64)
	}
	return r
}

func (r *refusals) add(reason string) {
	c := r.byReason[reason]
	if c == nil {
		c = r.byReason["other"]
	}
	c.Add(1)
}
