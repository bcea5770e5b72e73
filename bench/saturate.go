package bench

import (
	"context"
	"fmt"
)

// What ends a saturation ramp, in order of precedence: the load generator that
// has no time left, so that what the relay does is unknown; the relay that has
// none left; lost frames; the most viewers that are tried.
const (
	LimitLoad     = "load generator"
	LimitRelay    = "relay CPU"
	LimitDelivery = "delivery"
	LimitViewers  = "viewers"
)

const (
	fullCore     = 0.95  // share of a core above which a process has no time left
	wholeShare   = 0.999 // delivered share that still counts as everything
	mostSaturate = 3200  // viewers
)

// Saturation is how far one relay went.
type Saturation struct {
	Relay  string `json:"relay"`
	Scheme string `json:"scheme"`
	// Limit is what ended the ramp.
	Limit string `json:"limit"`
	// Viewers is the most at which everything arrived.
	Viewers int            `json:"viewers"`
	Steps   []FanoutResult `json:"steps"`
}

// saturate doubles the viewers on one relay until something gives.
func (c *comparison) saturate(ctx context.Context, r *running) error {
	s := Saturation{Relay: r.Name, Scheme: c.cfg.Schemes[0]}
	for load := c.cfg.Saturate; s.Limit == ""; load.Viewers *= 2 {
		step, err := c.fanout(ctx, r, s.Scheme, load)
		if err != nil {
			return fmt.Errorf("%d viewers: %w", load.Viewers, err)
		}
		s.add(*step)
		fmt.Fprintln(c.cfg.Progress, Measurement{Relay: r.Name, Scheme: s.Scheme, FanoutResult: *step})
	}
	c.report.Saturation = append(c.report.Saturation, s)
	return nil
}

// add takes a step and sees whether it was the last.
func (s *Saturation) add(step FanoutResult) {
	s.Steps = append(s.Steps, step)
	if step.Share >= wholeShare {
		s.Viewers = step.Load.Viewers
	}
	switch {
	case step.Self.Share() >= fullCore:
		s.Limit = LimitLoad
	case step.Relay != nil && step.Relay.Share() >= fullCore:
		s.Limit = LimitRelay
	case step.Share < wholeShare:
		s.Limit = LimitDelivery
	case step.Load.Viewers*2 > mostSaturate:
		s.Limit = LimitViewers
	}
}
