package peers

import (
	"slices"
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	const s = time.Second
	for _, tc := range []struct {
		name   string
		lived  []time.Duration
		random float64
		want   []time.Duration
	}{
		{"most", make([]time.Duration, 6), 1, []time.Duration{s, 2 * s, 4 * s, 8 * s, 10 * s, 10 * s}},
		{"least", make([]time.Duration, 6), 0, []time.Duration{s / 2, s, 2 * s, 4 * s, 5 * s, 5 * s}},
		{"a peer that accepts and closes", []time.Duration{9 * s, 1, 9 * s, 1}, 1, []time.Duration{s, 2 * s, 4 * s, 8 * s}},
		{"a long session starts anew", []time.Duration{0, 0, 10 * s, 0}, 1, []time.Duration{s, 2 * s, s, 2 * s}},
	} {
		var b Backoff
		var got []time.Duration
		for _, lived := range tc.lived {
			got = append(got, b.Wait(lived, tc.random))
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}
