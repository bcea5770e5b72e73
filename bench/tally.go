package bench

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// latencies is a histogram for many goroutines, in microseconds. What exceeds a
// minute counts as a minute.
type latencies struct {
	mu   sync.Mutex
	hist *hdrhistogram.Histogram
}

const longest = time.Minute

func newLatencies() *latencies {
	return &latencies{hist: hdrhistogram.New(1, longest.Microseconds(), 3)}
}

func (l *latencies) record(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hist.RecordValue(min(max(d, time.Microsecond), longest).Microseconds())
}

// Quantiles are latencies in microseconds.
type Quantiles struct {
	P50  int64 `json:"p50_us"`
	P99  int64 `json:"p99_us"`
	P999 int64 `json:"p999_us"`
	Max  int64 `json:"max_us"`
}

// add takes over what o recorded.
func (l *latencies) add(o *latencies) {
	o.mu.Lock()
	defer o.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hist.Merge(o.hist)
}

// count is how often something was recorded.
func (l *latencies) count() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return uint64(l.hist.TotalCount())
}

func (l *latencies) quantiles() Quantiles {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Quantiles{
		P50: l.hist.ValueAtQuantile(50), P99: l.hist.ValueAtQuantile(99),
		P999: l.hist.ValueAtQuantile(99.9), Max: l.hist.Max(),
	}
}

// tally counts what one viewer got. Its viewer alone writes it.
type tally struct {
	frames  uint64 // of the window, whole, whenever they came
	arrived uint64 // whole frames that came while the window ran
	bytes   uint64 // payload of arrived
	whole   uint64 // groups of the window that came with all their frames
	cut     uint64 // groups of the window of which a part came
}

// Groups says how the groups of the window fared, over all viewers.
type Groups struct {
	Expected uint64 `json:"expected"`
	Whole    uint64 `json:"whole"`
	Cut      uint64 `json:"cut"`     // a part came
	Skipped  uint64 `json:"skipped"` // nothing came
}

// Spread is the least, the middle and the most of a set.
type Spread struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}
