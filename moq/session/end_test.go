package session_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// TestLongTrackEndsAtOnce: a track whose early groups have aged out ends as soon
// as the last has come, not a maximum age later (§8.4).
func TestLongTrackEndsAtOnce(t *testing.T) {
	eachVersion(t, lite.V05, func(t *testing.T, v lite.Version) {
		m := newMesh(t, v)
		w := m.create(t)
		s := m.viewer.subscribe(t, moq.SubscribeOptions{MaxAge: 5 * time.Second})
		var want []string
		for n := range uint64(120) { // 12 s of media, of which the track keeps 5
			write(t, w, n, fmt.Sprint(n))
			want = append(want, fmt.Sprint(n))
			if diff := cmp.Diff(want[n:], groups(t, s)); diff != "" {
				t.Fatalf("group %d (-want +got):\n%s", n, diff)
			}
		}
		w.Finish()
		synctest.Wait()
		if end, _, complete, err := s.End(); end != 120 || !complete || err != nil {
			t.Errorf("End() = %d, complete %v, %v, want 120, at once", end, complete, err)
		}
	})
}
