package bench

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/moqmesh/moqmesh/internal/proc"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// SoakConfig is a relay full of sessions, and viewers that stop now and then.
type SoakConfig struct {
	// Relay is started for the run, on the processors that RelayCPUs lists as
	// taskset takes them. Without a program the relay at URL is used, whose
	// process is PID.
	Relay     Relay
	RelayCPUs string
	URL       string
	PID       int
	// Scheme chooses the transport to a relay that is started.
	Scheme  string
	Version lite.Version
	// Load is what goes through. Its viewers watch all the time.
	Load Load
	// Idle sessions do nothing. Stopped viewers are in a process that gets SIGSTOP
	// in every third phase.
	Idle, Stopped int
	// Stops is how often they are stopped, and Phase how long each time. It is also
	// how long they then catch up, and how long they run before the next time.
	Stops int
	Phase time.Duration
	// Pace is how many sessions connect in a second.
	Pace int
	// Hold is the command that holds sessions: "moqmesh bench hold".
	Hold []string
	// Progress gets a line for each step; nil discards them.
	Progress io.Writer
}

const (
	// soakWarmup is how long frames flow before the first phase.
	soakWarmup = 2 * time.Second
	// soakGrace is how long late frames are waited for.
	soakGrace = 2 * time.Second
	// settle is how long the relay is left alone before its memory is read.
	settle = 2 * time.Second
)

// Check says what is wrong with the configuration, or nil.
func (c SoakConfig) Check() error {
	switch {
	case c.Relay.Program == "" && c.URL == "":
		return errors.New("no relay")
	case c.Idle < 0 || c.Stopped < 0 || c.Stops < 0 || c.Stops > maxPhases/cycle-1:
		return errors.New("idle, stopped and stops must not be negative, and the stops not too many")
	case c.Phase <= 0 || c.Pace < 1:
		return errors.New("the phase and the pace must be above 0")
	}
	return c.Load.Check()
}

// phases is how many there are: the stopped viewers run in the first and the last.
func (c SoakConfig) phases() int { return cycle*c.Stops + 1 }

// ramp is the time in which so many sessions connect.
func (c SoakConfig) ramp(sessions int) time.Duration {
	return time.Duration(sessions) * time.Second / time.Duration(c.Pace)
}

// Soak fills a relay with idle sessions, then sends a load through it while some
// of its viewers stop.
func Soak(ctx context.Context, cfg SoakConfig) (*SoakResult, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if cfg.Progress == nil {
		cfg.Progress = io.Discard
	}
	s := &soak{cfg: cfg, path: newPath(), result: newSoakResult(ctx, cfg)}
	if cfg.Relay.Program == "" {
		return s.result, s.run(ctx)
	}
	dir, err := os.MkdirTemp("", "moqmesh-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	r, err := cfg.Relay.start(ctx, dir, cfg.RelayCPUs)
	if err != nil {
		return nil, err
	}
	defer r.stop()
	s.cfg.URL, s.cfg.PID = r.url(cfg.Scheme), r.pid()
	return s.result, s.run(ctx)
}

// soak is one under way.
type soak struct {
	cfg    SoakConfig
	path   string // of the broadcast
	result *SoakResult
}

// run fills the relay and sends the load through.
func (s *soak) run(ctx context.Context) (err error) {
	if s.result.Memory.Empty, err = s.memory(ctx); err != nil {
		return err
	}
	idle, err := s.crowd(ctx, s.cfg.Idle, "")
	if err != nil {
		return fmt.Errorf("open idle sessions: %w", err)
	}
	defer func() { err = errors.Join(err, idle.end(&s.result.IdleHeld)) }()
	if s.result.Memory.Idle, err = s.memory(ctx); err != nil {
		return err
	}
	c, err := s.crowd(ctx, s.cfg.Stopped, s.path)
	if err != nil {
		return fmt.Errorf("open the sessions that will be stopped: %w", err)
	}
	defer func() { err = errors.Join(err, c.end(&s.result.StoppedHeld)) }()
	return s.load(ctx, c)
}

// memory is the relay's, once it has settled; 0 = unknown.
func (s *soak) memory(ctx context.Context) (rss uint64, err error) {
	if s.cfg.PID == 0 {
		return 0, nil
	}
	select {
	case <-time.After(settle):
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	sample, err := proc.Read(s.cfg.PID)
	return sample.RSS, err
}

// crowd opens sessions in a process of their own; nil for none.
func (s *soak) crowd(ctx context.Context, sessions int, watch string) (*crowd, error) {
	if sessions == 0 {
		return nil, nil
	}
	fmt.Fprintf(s.cfg.Progress, "opening %d sessions\n", sessions)
	return startCrowd(ctx, s.cfg.Hold, HoldConfig{
		URL: s.cfg.URL, Version: s.cfg.Version, Sessions: sessions, Ramp: s.cfg.ramp(sessions), Watch: watch,
	})
}

// load measures the viewers that are never stopped, phase by phase.
func (s *soak) load(ctx context.Context, c *crowd) error {
	fmt.Fprintf(s.cfg.Progress, "opening %d viewers\n", s.cfg.Load.Viewers)
	phases := s.cfg.phases()
	r, err := Fanout(ctx, FanoutConfig{
		URL: s.cfg.URL, Dial: transport.DialConfig{TLS: &tls.Config{InsecureSkipVerify: true}}, // a relay on this machine
		Version: s.cfg.Version, Path: s.path, PID: s.cfg.PID, Load: s.cfg.Load,
		Ramp: s.cfg.ramp(s.cfg.Load.Viewers), Warmup: soakWarmup, Window: time.Duration(phases) * s.cfg.Phase, Grace: soakGrace,
		Phases: phases, OnPhase: func(phase int) { s.enter(phase, c) },
	})
	if err != nil {
		return err
	}
	s.result.Fanout = *r
	return nil
}

// What the crowd does in a phase. While it catches up it takes processor time
// from the other viewers, where they share one.
const (
	crowdRuns      = "running"
	crowdStopped   = "stopped"
	crowdCatchesUp = "catching up"
)

// cycle is after how many phases the same comes again.
const cycle = 3

// during is what the crowd does in a phase.
func during(phase int) string {
	return [cycle]string{crowdRuns, crowdStopped, crowdCatchesUp}[phase%cycle]
}

// enter stops the crowd in its phases and lets it go on in the others.
func (s *soak) enter(phase int, c *crowd) {
	fmt.Fprintf(s.cfg.Progress, "phase %d of %d: %s\n", phase+1, s.cfg.phases(), during(phase))
	if during(phase) == crowdStopped {
		c.freeze()
	} else {
		c.thaw()
	}
}
