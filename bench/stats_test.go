package bench

import (
	"strings"
	"testing"
	"time"
)

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   Spread
	}{
		{nil, Spread{}},
		{[]float64{3}, Spread{3, 3, 3}},
		{[]float64{9, 1, 2}, Spread{1, 2, 9}},
		{[]float64{4, 1, 2, 9}, Spread{1, 3, 9}},
	} {
		if got := spreadOf(c.values); got != c.want {
			t.Errorf("spreadOf(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}

func TestQuantiles(t *testing.T) {
	l := newLatencies()
	for i := 1; i <= 1000; i++ {
		l.record(time.Duration(i) * time.Millisecond)
	}
	q := l.quantiles()
	for name, c := range map[string]struct{ got, want int64 }{
		"p50": {q.P50, 500_000}, "p99": {q.P99, 990_000}, "p99.9": {q.P999, 999_000}, "max": {q.Max, 1_000_000},
	} {
		if off := c.got - c.want; off < -c.want/500 || off > c.want/500 {
			t.Errorf("%s = %d µs, want %d within 0.2 %%", name, c.got, c.want)
		}
	}
}

func TestLatencyOutOfRange(t *testing.T) {
	l := newLatencies()
	l.record(-time.Second)
	l.record(time.Hour)
	if got := l.hist.TotalCount(); got != 2 {
		t.Errorf("%d values recorded, want both", got)
	}
	if got := l.quantiles().Max; got < longest.Microseconds() {
		t.Errorf("max = %d µs, want a minute", got)
	}
}

func TestTail(t *testing.T) {
	var kept tail
	kept.Write([]byte(strings.Repeat("a", 3*tailBytes)))
	kept.Write([]byte("the end\n"))
	got := kept.String()
	if !strings.HasSuffix(got, "athe end") || len(got) > tailBytes {
		t.Errorf("tail of %d bytes ends in %q", len(got), got[len(got)-8:])
	}
}

func TestRisen(t *testing.T) {
	if got := risen(5, 7); got != 2 {
		t.Errorf("risen(5, 7) = %d, want 2", got)
	}
	if got := risen(7, 5); got != 0 {
		t.Errorf("risen(7, 5) = %d, want 0", got)
	}
}
