package bench

import (
	"testing"
	"time"
)

// TestPhases counts each frame of the window in the one phase whose span holds it.
func TestPhases(t *testing.T) {
	for _, c := range []struct {
		win   window
		count int
	}{{window{5, 6}, 0}, {window{0, 9}, 3}, {window{7, 107}, 7}, {window{3, 5}, 2}, {window{10, 12}, 5}} {
		p := newPhases(c.win, c.count)
		next := c.win.first
		for i, l := range p.each {
			span := p.span(i)
			if span.first != next {
				t.Fatalf("%+v in %d: phase %d begins at %d, want %d", c.win, c.count, i, span.first, next)
			}
			for next = span.first; next < span.end; next++ {
				p.record(next, time.Duration(i+1)*time.Millisecond)
			}
			if l.count() != span.frames() {
				t.Errorf("%+v in %d: phase %d counts %d frames, want %d", c.win, c.count, i, l.count(), span.frames())
			}
		}
		if next != c.win.end {
			t.Errorf("%+v in %d: the phases end at %d", c.win, c.count, next)
		}
	}
}

// TestPhasesTogether: the latencies of the window are those of its phases.
func TestPhasesTogether(t *testing.T) {
	p := newPhases(window{0, 2}, 2)
	p.record(0, 100*time.Microsecond)
	p.record(1, 300*time.Microsecond)
	if q := p.quantiles(); q.P50 != 100 || q.Max != 300 {
		t.Errorf("together %v, want a median of 100 µs and at most 300", q)
	}
	if q := p.each[1].quantiles(); q.P50 != 300 {
		t.Errorf("second phase %v, want 300 µs", q)
	}
}
