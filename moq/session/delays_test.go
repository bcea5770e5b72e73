package session

import (
	"testing"
	"time"
)

func TestDelays(t *testing.T) {
	var d Delays
	for _, t := range []time.Duration{0, 100 * time.Microsecond, 100*time.Microsecond + 1, time.Second, time.Minute} {
		d.observe(t)
	}
	upTo, all, sum := d.Read()
	for i, bound := range DelayBounds {
		want := uint64(3)
		switch {
		case bound == 100*time.Microsecond:
			want = 2
		case bound >= time.Second:
			want = 4
		}
		if upTo[i] != want {
			t.Errorf("%d were up to %v, want %d", upTo[i], bound, want)
		}
	}
	if all != 5 || sum != time.Minute+time.Second+200*time.Microsecond+1 {
		t.Errorf("%d, %v in all", all, sum)
	}
}

// What was here before the viewer says nothing of how fast the relay is, and what
// nobody stamped neither.
func TestOnlyGroupsThatArriveWhileViewedAreTimed(t *testing.T) {
	began := time.Now().Add(-time.Minute)
	counters := new(Counters)
	d := &sender{}
	v := &served{s: &Session{cfg: Config{Counters: counters}}, since: began}
	timed := func(arrived time.Time) (n uint64) {
		_, before, _ := counters.Forwarding.Read()
		for range sampleEvery {
			if d.timeNext() {
				v.timeGroup(arrived)
			}
		}
		_, after, _ := counters.Forwarding.Read()
		return after - before
	}
	for name, tc := range map[string]struct {
		arrived time.Time
		want    uint64
	}{
		"cached": {began.Add(-time.Second), 0},
		"local":  {time.Time{}, 0},
		"live":   {began.Add(time.Second), 1},
	} {
		if got := timed(tc.arrived); got != tc.want {
			t.Errorf("%s: %d of %d groups timed, want %d", name, got, sampleEvery, tc.want)
		}
	}
}
