package main

import (
	"testing"
	"time"
)

func TestMeterLine(t *testing.T) {
	m := &meter{}
	for _, group := range []uint64{0, 0, 1, 1} {
		m.frame(group, 1000)
	}
	before := m.total()
	if want := (tally{Groups: 2, Frames: 4, Bytes: 4000}); before != want {
		t.Errorf("total = %+v, want %+v", before, want)
	}
	m.frame(2, 2500)
	m.frame(3, 2500)
	if got, want := m.line(before, 2*time.Second), "20.0 kbit/s  1 frames/s  1.0 groups/s  6 frames in all"; got != want {
		t.Errorf("line = %q, want %q", got, want)
	}
	m.late(12340 * time.Microsecond)
	if got, want := m.line(m.total(), time.Second), "0 bit/s  0 frames/s  0.0 groups/s  6 frames in all  latency 12.3 ms"; got != want {
		t.Errorf("line = %q, want %q", got, want)
	}
}

func TestBitrate(t *testing.T) {
	for bits, want := range map[float64]string{
		0: "0 bit/s", 999: "999 bit/s", 1000: "1.0 kbit/s", 2_500_000: "2.5 Mbit/s", 3e9: "3.0 Gbit/s",
	} {
		if got := bitrate(bits); got != want {
			t.Errorf("bitrate(%v) = %q, want %q", bits, got, want)
		}
	}
}
