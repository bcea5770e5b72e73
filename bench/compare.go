package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// CompareConfig says what is compared, with what, and for how long.
type CompareConfig struct {
	// Relays are compared with the first of them.
	Relays []Relay
	// Schemes choose the transports: "moqt" and "https".
	Schemes []string
	// Loads are measured in turn, each on every relay before the next.
	Loads []Load
	// Version is spoken to all of them.
	Version lite.Version
	// Rounds repeat everything with fresh processes.
	Rounds int
	// Window, Warmup, Ramp and Grace are those of each measurement.
	Window, Warmup, Ramp, Grace time.Duration
	// RelayCPUs and LoadCPUs keep relays and load apart, as taskset takes them;
	// empty = anywhere.
	RelayCPUs, LoadCPUs string
	// Fanout is the command that runs one measurement: "moqmesh bench fanout".
	Fanout []string
	// Saturate, if its rate is not 0, is a load whose viewers are doubled on each
	// relay until something gives.
	Saturate Load
	// MoqBench is the second generator's program; empty = none.
	MoqBench string
	// Progress gets a line for each measurement; nil discards them.
	Progress io.Writer
}

// Compare measures all relays. On an error the report holds what was measured
// until then.
func Compare(ctx context.Context, cfg CompareConfig) (*Report, error) {
	if len(cfg.Relays) == 0 || len(cfg.Fanout) == 0 {
		return nil, errors.New("compare: no relays, or no command to measure with")
	}
	if cfg.Progress == nil {
		cfg.Progress = io.Discard
	}
	c := &comparison{cfg: cfg, report: newReport(ctx, cfg)}
	for round := 1; round <= cfg.Rounds; round++ {
		if err := c.withRelays(ctx, func(relays []*running) error { return c.round(ctx, round, relays) }); err != nil {
			return c.report, fmt.Errorf("round %d: %w", round, err)
		}
	}
	return c.report, c.withRelays(ctx, func(relays []*running) error { return c.extras(ctx, relays) })
}

// comparison is a comparison under way.
type comparison struct {
	cfg    CompareConfig
	report *Report
}

// withRelays runs f with all relays up. Those that are not under load sleep.
func (c *comparison) withRelays(ctx context.Context, f func([]*running) error) error {
	dir, err := os.MkdirTemp("", "moqmesh-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var up []*running
	for _, r := range c.cfg.Relays {
		run, err := r.start(ctx, dir, c.cfg.RelayCPUs)
		if err != nil {
			return err
		}
		defer run.stop()
		up = append(up, run)
	}
	return f(up)
}

// round measures every load on every relay, beginning with another one each time.
func (c *comparison) round(ctx context.Context, round int, relays []*running) error {
	turn := round
	for _, load := range c.cfg.Loads {
		for _, scheme := range c.cfg.Schemes {
			for i := range relays {
				r := relays[(turn+i)%len(relays)]
				result, err := c.fanout(ctx, r, scheme, load)
				if err != nil {
					return fmt.Errorf("%s on %s: %w", load.Name, r.Name, err)
				}
				m := Measurement{Round: round, Relay: r.Name, Scheme: scheme, FanoutResult: *result}
				c.report.Measurements = append(c.report.Measurements, m)
				fmt.Fprintln(c.cfg.Progress, m)
			}
			turn++
		}
	}
	return nil
}

// fanout runs one measurement in a process of its own.
func (c *comparison) fanout(ctx context.Context, r *running, scheme string, load Load) (*FanoutResult, error) {
	args := append(c.cfg.Fanout[1:len(c.cfg.Fanout):len(c.cfg.Fanout)],
		"--relay", r.url(scheme), "--pid", strconv.Itoa(r.pid()), "--protocol", c.cfg.Version.String(),
		"--rate", strconv.FormatFloat(load.Rate, 'g', -1, 64), "--frame-size", strconv.Itoa(load.FrameBytes),
		"--group-size", strconv.Itoa(load.GroupFrames), "--viewers", strconv.Itoa(load.Viewers),
		"--duration", c.cfg.Window.String(), "--warmup", c.cfg.Warmup.String(),
		"--ramp", c.cfg.Ramp.String(), "--grace", c.cfg.Grace.String(), "--tls-insecure", "--json")
	cmd := pinned(ctx, c.cfg.LoadCPUs, c.cfg.Fanout[0], args...)
	var out bytes.Buffer
	said := &tail{}
	cmd.Stdout, cmd.Stderr = &out, said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("measure: %w: %s", err, said)
	}
	var result FanoutResult
	if err := json.Unmarshal(out.Bytes(), &result); err != nil {
		return nil, fmt.Errorf("read the measurement: %w", err)
	}
	result.Load.Name = load.Name
	return &result, nil
}

// extras runs the saturation ramp and the second generator.
func (c *comparison) extras(ctx context.Context, relays []*running) error {
	if c.cfg.Saturate.Rate > 0 {
		for _, r := range relays {
			if err := c.saturate(ctx, r); err != nil {
				return fmt.Errorf("saturate %s: %w", r.Name, err)
			}
		}
	}
	if c.cfg.MoqBench == "" {
		return nil
	}
	for _, r := range relays {
		if err := c.second(ctx, r); err != nil {
			return fmt.Errorf("second generator on %s: %w", r.Name, err)
		}
	}
	return nil
}
