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

// tier counts what the sessions of one class of service do.
type tier struct {
	session.Counters
	opened, closed atomic.Uint64 // sessions
}

// tiers holds what is counted by tier.
type tiers struct {
	mu     sync.Mutex // guards byName
	byName map[string]*tier
}

func newTiers() *tiers { return &tiers{byName: map[string]*tier{"": new(tier)}} }

// get returns the counts of a tier; "" is for sessions without one.
func (t *tiers) get(name string) *tier {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.byName[name]; c != nil {
		return c
	}
	if len(t.byName) >= maxTiers {
		name = "other"
	}
	c := t.byName[name]
	if c == nil {
		c = new(tier)
		t.byName[name] = c
	}
	return c
}

// counters are those that sessions of a tier share.
func (t *tiers) counters(name string) *session.Counters { return &t.get(name).Counters }

// each calls f for every tier.
func (t *tiers) each(f func(name string, c *tier)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, c := range t.byName {
		f(name, c)
	}
}

// refusals counts sessions turned away, by a closed set of reasons.
type refusals struct{ byReason map[string]*atomic.Uint64 }

func newRefusals() *refusals {
	r := &refusals{byReason: make(map[string]*atomic.Uint64)}
	for _, reason := range append(auth.Codes(), refusedSessions, refusedAddress, refusedSetup, "other") {
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
