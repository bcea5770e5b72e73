package peers

import (
	"testing"
	"time"
)

func ms(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

func TestAutoPriceOfRoundTrips(t *testing.T) {
	for _, tc := range []struct {
		rtt  float64
		want uint64
	}{{0.1, 1}, {5, 1}, {7.4, 1}, {7.5, 2}, {20, 4}, {100, 20}, {280, 56}} {
		var a AutoPrice
		if got, changed := a.Take(start, Sample{RTT: ms(tc.rtt)}); got != tc.want || !changed {
			t.Errorf("%v ms: %d, %v, want %d at once", tc.rtt, got, changed, tc.want)
		}
	}
	var a AutoPrice
	if got, changed := a.Take(start, Sample{}); got != 0 || changed {
		t.Errorf("nothing measured: %d, %v", got, changed)
	}
}

// feed takes samples every AutoEvery for a time, and returns the price and when it last changed.
func feed(a *AutoPrice, from, length time.Duration, sample func(at time.Duration) Sample) (price uint64, changed time.Duration) {
	for at := from; at <= from+length; at += AutoEvery {
		p, ok := a.Take(start.Add(at), sample(at))
		if price = p; ok {
			changed = at
		}
	}
	return price, changed
}

func steady(rtt float64) func(time.Duration) Sample {
	return func(time.Duration) Sample { return Sample{RTT: ms(rtt)} }
}

func TestAutoPriceHysteresis(t *testing.T) {
	for _, tc := range []struct {
		name    string
		rtt     float64 // after 60 s at 100 ms
		want    uint64
		changed time.Duration
	}{
		{"within a quarter", 121, 20, 0},
		{"a quarter dearer, once the old round trips have left the window", 125, 25, 125 * time.Second},
		{"a quarter cheaper", 75, 15, 95 * time.Second},
	} {
		var a AutoPrice
		feed(&a, 0, time.Minute, steady(100))
		price, changed := feed(&a, 65*time.Second, time.Minute+5*time.Second, steady(tc.rtt))
		if price != tc.want || changed != tc.changed {
			t.Errorf("%s: %d, changed at %v, want %d at %v", tc.name, price, changed, tc.want, tc.changed)
		}
	}
}

// A moment of better or worse does not move the price.
func TestAutoPriceIgnoresMoments(t *testing.T) {
	var a AutoPrice
	price, changed := feed(&a, 0, 10*time.Minute, func(at time.Duration) Sample {
		if at%(2*time.Minute) == time.Minute {
			return Sample{RTT: ms(900)}
		}
		return Sample{RTT: ms(100)}
	})
	if price != 20 || changed != 0 {
		t.Errorf("price %d, changed at %v, want 20 from the start", price, changed)
	}
}

func TestAutoPriceOfLoss(t *testing.T) {
	lossy := func(perSecond, lostPercent uint64) func(time.Duration) Sample {
		return func(at time.Duration) Sample {
			sent := perSecond * uint64(at/time.Second)
			return Sample{RTT: ms(50), Sent: sent, Lost: sent * lostPercent / 100}
		}
	}
	for _, tc := range []struct {
		name      string
		rate, pct uint64
		want      uint64
	}{
		{"no loss", 1000, 0, 10},
		{"two percent", 1000, 2, 30},
		{"half of few packets", 2, 50, 10},
		{"everything", 1000, 100, 1010},
	} {
		var a AutoPrice
		if got, _ := feed(&a, 0, 2*time.Minute, lossy(tc.rate, tc.pct)); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
}
