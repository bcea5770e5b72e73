package bench

import "time"

// phases cut a window into spans of about the same number of frames, each with
// latencies of its own.
type phases struct {
	win  window
	each []*latencies
}

func newPhases(win window, count int) phases {
	p := phases{win: win}
	for range max(count, 1) {
		p.each = append(p.each, newLatencies())
	}
	return p
}

// record takes the latency of a frame of the window.
func (p phases) record(number uint64, latency time.Duration) {
	p.each[(number-p.win.first)*uint64(len(p.each))/p.win.frames()].record(latency)
}

// span is the frames of phase i.
func (p phases) span(i int) window {
	start := func(i int) uint64 {
		count := uint64(len(p.each))
		return p.win.first + (uint64(i)*p.win.frames()+count-1)/count
	}
	return window{first: start(i), end: start(i + 1)}
}

// quantiles are those of the whole window.
func (p phases) quantiles() Quantiles {
	all := newLatencies()
	for _, l := range p.each {
		all.add(l)
	}
	return all.quantiles()
}

// Phase is a part of the window of a measurement.
type Phase struct {
	Expected  uint64    `json:"expected_frames"`
	Delivered uint64    `json:"delivered_frames"`
	Latency   Quantiles `json:"latency"`
	Relay     *Usage    `json:"relay,omitempty"`
	Self      Usage     `json:"load_generator"`
}

// results puts what was counted in each phase beside what was used.
func (p phases) results(viewers int, used []usages) (all []Phase) {
	for i, l := range p.each {
		all = append(all, Phase{
			Expected: p.span(i).frames() * uint64(viewers), Delivered: l.count(), Latency: l.quantiles(),
			Relay: used[i].relay, Self: used[i].self,
		})
	}
	return all
}
