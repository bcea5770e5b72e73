package relay

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/moq"
)

// footprint is what a process holds at rest.
type footprint struct {
	heap       uint64
	goroutines int
}

func measure() footprint {
	runtime.GC()
	runtime.GC() // pools give up what they hold at the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return footprint{m.HeapAlloc, runtime.NumGoroutine()}
}

// A24: 200,000 groups through a relay leave no more behind than the first few
// thousand did, neither memory nor goroutines, and none of them is lost.
func TestA24ChurnThroughTheRelay(t *testing.T) {
	if testing.Short() {
		t.Skip("sends 200,000 groups")
	}
	const (
		groups = 200_000
		burst  = 20 // at once: fewer than a subscription may have open
		warm   = 20_000
		slack  = 8 << 20
	)
	n := start(t)
	w := dial(t, n.url("moqt", "/")).publish(t, "x", "video")
	s := dial(t, n.url("moqt", "/")).view(t, "x", "video")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	seen := 0
	send := func(from, to uint64) {
		for i := from; i < to; i += burst {
			for j := i; j < i+burst; j++ {
				if err := w.WriteGroup(j, moq.Frame{Timestamp: j, Payload: []byte("tiny")}); err != nil {
					t.Fatal(err)
				}
			}
			for range burst { // in any order
				if _, payloads, err := readGroup(ctx, s); err != nil || len(payloads) != 1 || payloads[0] != "tiny" {
					t.Fatalf("after %d groups: %q, %v", seen, payloads, err)
				}
				seen++
			}
		}
	}
	write(t, w, 0, "first") // with nothing beside it: what overtakes the first is no loss
	expect(t, s, 0, "first")
	send(burst, warm)
	before := measure()
	send(warm, groups)
	var after footprint
	eventually(t, "memory and goroutines as before", func() bool {
		after = measure()
		return after.heap < before.heap+slack && after.goroutines <= before.goroutines
	})
	t.Logf("after %d groups %d KiB and %d goroutines, after %d %d KiB and %d",
		warm, before.heap>>10, before.goroutines, groups, after.heap>>10, after.goroutines)
	c := n.tiers.counters("")
	if in, out := c.Ingress.Groups.Load(), c.Egress.Groups.Load(); in != groups-burst+1 || out != in {
		t.Errorf("%d groups came in and %d went out, want %d", in, out, groups-burst+1)
	}
	if lost := c.GroupsReset.Load() + c.GroupsSkipped.Load(); lost != 0 {
		t.Errorf("%d groups were given up", lost)
	}
}
