package bench

import (
	"testing"
	"time"
)

func TestBusy(t *testing.T) {
	for stat, want := range map[string]time.Duration{
		"cpu  100 20 3 5000 900 4 5 68 7 8\ncpu0 1 1 1 1 1 1 1 1 1 1\n": 2 * time.Second,
		"cpu  100 20 3 5000 900 4 5\n":                                  0,
		"cpu  100 x 3 5000 900 4 5 68\n":                                0,
		"":                                                              0,
	} {
		if got := busy(stat); got != want {
			t.Errorf("busy(%q) = %v, want %v", stat, got, want)
		}
	}
}
