package interop

import (
	"testing"
	"time"
)

// TestMeshChain sends a broadcast through three relays of ours and takes the middle one away.
func TestMeshChain(t *testing.T) {
	if testing.Short() {
		t.Skip("interop takes minutes")
	}
	m := startMesh(t, map[string]plan{"a": {dials: []string{"b"}}, "b": {}, "c": {dials: []string{"b"}}})
	name := unique("chain")
	publish(t, m["a"].relay, name)
	m.awaitEverywhere(t, name)
	m.awaitWay(t, m["c"], name, "a", "b", "c")

	first := watch(t, m["c"].relay, name)
	first.await(t, 2*streamRate, 10*time.Second)
	second := watch(t, m["c"].relay, name)
	second.await(t, streamRate, 10*time.Second)
	for _, relay := range []string{"a", "b"} {
		if got := m[relay].pulls(t); got != 1 {
			t.Errorf("%s was pulled from %d times for two viewers, want once", relay, got)
		}
	}
	for i, v := range []viewer{first, second} {
		if err := v.came.flaw(); err != nil {
			t.Errorf("viewer %d: %v", i+1, err)
		}
	}

	m["b"].kill(t)
	m["b"].restart(t)
	first.await(t, streamRate, 40*time.Second)
	second.await(t, streamRate, 10*time.Second)
	m.awaitWay(t, m["c"], name, "a", "b", "c")
	t.Logf("the restart cost the first viewer %v", first.came.silence().Round(time.Millisecond))
}
