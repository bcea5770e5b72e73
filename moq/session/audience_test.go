package session

import "testing"

// A session views a broadcast from its first subscription there to its last.
func TestAudience(t *testing.T) {
	var (
		a      audience
		counts Traffic
	)
	want := func(step string, opened, closed uint64) {
		t.Helper()
		if o, c := counts.Broadcasts.Load(), counts.BroadcastsClosed.Load(); o != opened || c != closed {
			t.Errorf("%s: %d opened, %d closed, want %d and %d", step, o, c, opened, closed)
		}
	}
	video := a.join("x", &counts)
	audio := a.join("x", &counts)
	want("two tracks of one broadcast", 1, 0)
	other := a.join("y", &counts)
	want("another broadcast", 2, 0)
	video()
	want("one track left", 2, 0)
	audio()
	want("both tracks left", 2, 1)
	again := a.join("x", &counts)
	want("back again", 3, 1)
	again()
	other()
	want("all left", 3, 3)
	if len(a.subs) != 0 {
		t.Errorf("%d broadcasts are remembered without a subscription", len(a.subs))
	}
}
