package relay

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/moqmesh/moqmesh/moq/session"
)

// histogram is a snapshot over what is open now.
type histogram struct {
	bounds []float64
	counts map[float64]uint64
	n      uint64
	sum    float64
}

func newHistogram(bounds []float64) *histogram {
	h := &histogram{bounds: bounds, counts: make(map[float64]uint64)}
	for _, b := range bounds {
		h.counts[b] = 0
	}
	return h
}

func (h *histogram) observe(v float64) {
	h.n++
	h.sum += v
	for _, b := range h.bounds {
		if v <= b {
			h.counts[b]++
		}
	}
}

func (h *histogram) metric(d *prometheus.Desc) prometheus.Metric {
	return prometheus.MustNewConstHistogram(d, h.n, h.sum, h.counts)
}

// delays gives what was counted so far, in seconds.
func delays(desc *prometheus.Desc, d *session.Delays, labels ...string) prometheus.Metric {
	upTo, all, sum := d.Read()
	counts := make(map[float64]uint64, len(upTo))
	for i, bound := range session.DelayBounds {
		counts[bound.Seconds()] = upTo[i]
	}
	return prometheus.MustNewConstHistogram(desc, all, sum.Seconds(), counts, labels...)
}
