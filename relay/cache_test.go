package relay

import (
	"errors"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/internal/config"
	"github.com/moqmesh/moqmesh/internal/proc"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/relay/conf"
)

func TestCapacity(t *testing.T) {
	const mib = 1 << 20
	for name, tc := range map[string]struct{ bound, headroom, used, available, want int64 }{
		"nothing set":                   {0, 0, 5 * mib, 9 * mib, 0},
		"a bound alone":                 {7 * mib, 0, 5 * mib, 0, 7 * mib},
		"room to grow":                  {0, 10 * mib, 5 * mib, 30 * mib, 25 * mib},
		"exactly the headroom is free":  {0, 10 * mib, 5 * mib, 10 * mib, 5 * mib},
		"less than the headroom":        {0, 10 * mib, 5 * mib, 8 * mib, 3 * mib},
		"nothing is left":               {0, 10 * mib, 5 * mib, 1 * mib, minCapacity},
		"headroom above the memory":     {0, 1000 * mib, 0, 30 * mib, minCapacity},
		"the bound is the lesser":       {20 * mib, 10 * mib, 5 * mib, 30 * mib, 20 * mib},
		"the headroom is the lesser":    {30 * mib, 10 * mib, 5 * mib, 30 * mib, 25 * mib},
		"a bound below the least to do": {mib / 2, 10 * mib, 0, 0, mib / 2},
	} {
		if got := capacity(tc.bound, tc.headroom, tc.used, tc.available); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

// When memory becomes scarce the cache gives back what is missing, and no more; when
// it is there again the cache may grow.
func TestGovernorShrinksTheCache(t *testing.T) {
	cfg := testConfig()
	cfg.Cache = conf.Cache{Headroom: config.Amount{Bytes: 100 << 20}}
	r, err := New(cfg, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := moq.NewBroadcast(r.cache, nil)
	w, err := b.Create("video", moq.TrackInfo{MaxAge: moq.Unlimited, Timescale: 1000})
	if err != nil {
		t.Fatal(err)
	}
	r.cache.Advance(time.Now())
	for i := range uint64(32) {
		if err := w.WriteGroup(i, moq.Frame{Timestamp: i, Payload: make([]byte, 256<<10)}); err != nil {
			t.Fatal(err)
		}
	}
	before := r.cache.Stats().Used
	govern := func(available uint64) moq.CacheStats {
		r.memory = func() (proc.Memory, error) { return proc.Memory{Total: 1 << 30, Available: available}, nil }
		r.govern()
		r.cache.Advance(time.Now()) // as keepCache does
		return r.cache.Stats()
	}
	if s := govern(200 << 20); s.Evicted != 0 || s.Used < before {
		t.Errorf("with memory to spare: %+v, had %d bytes", s, before)
	}
	const missing = 4 << 20
	if s := govern(100<<20 - missing); s.Used > before-missing || s.Used < before-missing-(512<<10) {
		t.Errorf("with %d bytes too few: %d in use of %d before", missing, s.Used, before)
	}
	if s := govern(200 << 20); s.Capacity <= before {
		t.Errorf("with memory again: capacity %d, want above %d", s.Capacity, before)
	}
	r.memory = func() (proc.Memory, error) { return proc.Memory{}, errors.New("no /proc") }
	if r.govern(); r.cache.Stats().Capacity != 0 {
		t.Errorf("without a reading: capacity %d, want no bound", r.cache.Stats().Capacity)
	}
}
