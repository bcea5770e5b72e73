package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// FanoutConfig is one measurement.
type FanoutConfig struct {
	// URL leads to the relay; its scheme chooses the transport.
	URL string
	// Dial says whom to trust. There is no fallback to WebSocket: the URL alone
	// chooses the transport.
	Dial transport.DialConfig
	// Version is the only one offered.
	Version lite.Version
	// Path is the name of the broadcast; empty = one that nobody has used.
	Path string
	// PID is the relay's process, whose use of the machine is read; 0 = unknown.
	PID int
	// Load is what goes through.
	Load Load
	// Ramp is the time over which the viewers connect, Warmup how long frames flow
	// before the window, Window what is measured, and Grace how long after it late
	// frames are waited for.
	Ramp, Warmup, Window, Grace time.Duration
	// Phases is the number of parts of the window that are also measured each for
	// itself; 0 = none.
	Phases int
	// OnPhase, unless nil, is told the number of each phase as it begins, from 0.
	OnPhase func(phase int)
}

// FanoutResult is what one measurement found.
type FanoutResult struct {
	URL       string `json:"url"`
	Transport string `json:"transport"` // that the publisher got
	Version   string `json:"version"`
	Load      Load   `json:"load"`

	Expected  uint64  `json:"expected_frames"` // frames of the window times viewers
	Delivered uint64  `json:"delivered_frames"`
	Share     float64 `json:"delivered_share"`
	Groups    Groups  `json:"groups"`
	// PerViewer is the spread of the delivered share over the viewers: what the
	// fan-out really was.
	PerViewer Spread `json:"delivered_share_per_viewer"`
	// Bitrate is the payload that reached all viewers together, in bits per second.
	Bitrate float64 `json:"bits_per_second"`

	// Latency is from when a frame was due to when a viewer had all of it. Late is
	// how late the publisher wrote it: what of the latency is the load's own.
	Latency Quantiles `json:"latency"`
	Late    Quantiles `json:"publisher_late"`

	Relay *Usage `json:"relay,omitempty"`
	Self  Usage  `json:"load_generator"`
	// Others is what all other processes and the kernel used of the machine
	// meanwhile, in cores: the noise around the figures.
	Others float64 `json:"others_cores"`
	// Phases are the parts of the window, where it was cut.
	Phases []Phase `json:"phases,omitempty"`
	// FrameCPU is relay CPU for each frame that arrived during the window, in
	// microseconds; 0 = unknown.
	FrameCPU float64 `json:"relay_cpu_us_per_frame"`
}

// Check says what is wrong with the configuration, or nil.
func (c FanoutConfig) Check() error {
	switch {
	case c.URL == "":
		return errors.New("no relay URL")
	case c.Window <= 0 || c.Warmup < 0 || c.Ramp < 0 || c.Grace < 0:
		return errors.New("times must not be negative, and the window not zero")
	case c.Phases < 0 || c.Phases > maxPhases:
		return fmt.Errorf("phases %d: want 0 to %d", c.Phases, maxPhases)
	}
	return c.Load.Check()
}

// maxPhases bounds the histograms of a measurement.
const maxPhases = 1000

// Fanout measures once. It ends early with the first session that ends.
func Fanout(ctx context.Context, cfg FanoutConfig) (*FanoutResult, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if cfg.Path == "" {
		cfg.Path = newPath()
	}
	win := cfg.Load.window(cfg.Warmup, cfg.Window)
	f := &fanout{cfg: cfg, clock: newClock(), win: win, latency: newPhases(win, cfg.Phases), late: newLatencies()}
	return f.run(ctx)
}

// newPath is a name for a broadcast that nobody has used.
func newPath() string { return fmt.Sprintf("bench/%d-%d", os.Getpid(), time.Now().UnixNano()) }

// fanout is a measurement under way.
type fanout struct {
	cfg       FanoutConfig
	clock     *clock
	win       window
	latency   phases
	late      *latencies
	viewers   []*viewer
	transport string
}

func (f *fanout) run(ctx context.Context) (*FanoutResult, error) {
	ctx, stop := context.WithCancel(ctx)
	g, ctx := errgroup.WithContext(ctx)
	defer g.Wait()
	defer stop()

	track, err := f.publish(ctx, g)
	if err != nil {
		return nil, fmt.Errorf("publish: %w", err)
	}
	if err := f.connect(ctx, g); err != nil {
		return nil, fmt.Errorf("connect viewers: %w", err)
	}
	p := &publisher{load: f.cfg.Load, track: track, clock: f.clock, late: f.late, win: f.win}
	f.clock.begin()
	g.Go(func() error { return p.run(ctx) })
	used, err := f.measure(ctx)
	stop()
	g.Wait() // what ended a session too early is measure's error
	if err != nil {
		return nil, err
	}
	return f.result(used), nil
}

// used is what the window took.
type used struct {
	usages
	phases []usages
	others float64
}

// measure waits for the window, reads the processes at both ends of it and of
// its phases, and lets late frames come in.
func (f *fanout) measure(ctx context.Context) (u used, err error) {
	if err := f.until(ctx, f.cfg.Load.due(f.win.first)); err != nil {
		return u, err
	}
	whole, before := newMeters(f.cfg.PID), busyNow()
	if err := whole.begin(); err != nil {
		return u, err
	}
	for i := range f.latency.each {
		part, err := f.measurePhase(ctx, i)
		if err != nil {
			return u, err
		}
		u.phases = append(u.phases, part)
	}
	if u.usages, err = whole.end(); err != nil {
		return u, err
	}
	others := busyNow() - before - u.self.CPU
	if u.relay != nil {
		others -= u.relay.CPU
	}
	u.others = max(others.Seconds()/u.self.Span.Seconds(), 0)
	return u, f.until(ctx, f.cfg.Load.due(f.win.end)+f.cfg.Grace)
}

// measurePhase reads the processes from now, when phase i begins, to its end.
func (f *fanout) measurePhase(ctx context.Context, i int) (usages, error) {
	if f.cfg.OnPhase != nil {
		f.cfg.OnPhase(i)
	}
	m := newMeters(f.cfg.PID)
	if err := m.begin(); err != nil {
		return usages{}, err
	}
	if err := f.until(ctx, f.cfg.Load.due(f.latency.span(i).end)); err != nil {
		return usages{}, err
	}
	return m.end()
}

// until waits until the clock shows t.
func (f *fanout) until(ctx context.Context, t time.Duration) error {
	timer := time.NewTimer(t - f.clock.now())
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// result adds up; all viewers have ended.
func (f *fanout) result(u used) *FanoutResult {
	load, perViewer := f.cfg.Load, f.win.frames()
	r := &FanoutResult{
		URL: f.cfg.URL, Transport: f.transport, Version: f.cfg.Version.String(), Load: load,
		Expected: perViewer * uint64(load.Viewers),
		Groups:   Groups{Expected: perViewer / uint64(load.GroupFrames) * uint64(load.Viewers)},
		Latency:  f.latency.quantiles(), Late: f.late.quantiles(),
		Relay: u.relay, Self: u.self, Others: u.others,
	}
	if f.cfg.Phases > 0 {
		r.Phases = f.latency.results(load.Viewers, u.phases)
	}
	var arrived, bytes uint64
	var shares []float64
	for _, v := range f.viewers {
		r.Delivered += v.tally.frames
		r.Groups.Whole += v.tally.whole
		r.Groups.Cut += v.tally.cut
		arrived += v.tally.arrived
		bytes += v.tally.bytes
		shares = append(shares, float64(v.tally.frames)/float64(perViewer))
	}
	r.Groups.Skipped = r.Groups.Expected - r.Groups.Whole - r.Groups.Cut
	r.Share = float64(r.Delivered) / float64(r.Expected)
	r.PerViewer = spreadOf(shares)
	r.Bitrate = float64(bytes) * 8 / u.self.Span.Seconds()
	if u.relay != nil && arrived > 0 {
		r.FrameCPU = float64(u.relay.CPU.Microseconds()) / float64(arrived)
	}
	return r
}
