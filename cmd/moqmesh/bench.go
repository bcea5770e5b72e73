package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/moqmesh/moqmesh/bench"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// loadMemory is how much memory the load takes before it collects garbage, in
// bytes. A collection holds up every frame that arrives meanwhile, for 20 ms on
// a core that is half busy, which would count against the relay.
const loadMemory = 2 << 30

// benchMain is "moqmesh bench".
func benchMain(ctx context.Context, args []string, std streams) int {
	list := []command{
		{"fanout", "one publisher and many viewers through any relay", benchFanoutMain},
		{"compare", "several relays in turn, into a report", benchCompareMain},
		{"hold", "many sessions, idle or watching, until interrupted", benchHoldMain},
		{"soak", "a relay full of sessions, some of which stop", benchSoakMain},
	}
	if len(args) == 0 {
		fmt.Fprint(std.err, usage("moqmesh bench", list))
		return exitUsage
	}
	switch args[0] {
	case "-h", "-help", "--help", "help":
		fmt.Fprint(std.out, usage("moqmesh bench", list))
		return exitOK
	}
	return dispatch(ctx, "moqmesh bench", list, args, std)
}

const benchFanoutAbout = `Publishes made-up frames through a relay to many viewers, each with a session of
its own, and tells what arrived, how late, and what that cost the relay.
` + connectAbout

// benchFanoutMain is "moqmesh bench fanout".
func benchFanoutMain(ctx context.Context, args []string, std streams) int {
	defer collectLate()()
	return report(std, "moqmesh bench fanout", benchFanout(ctx, args, std))
}

// collectLate puts garbage collections off until loadMemory is in use, and
// returns what puts that back.
func collectLate() (restore func()) {
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(loadMemory)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

func benchFanout(ctx context.Context, args []string, std streams) error {
	var cfg bench.FanoutConfig
	asJSON := false
	f := newFlags("moqmesh bench fanout", "[URL]", benchFanoutAbout)
	conn := addConnection(f)
	f.StringVar(&conn.url, "relay", "", "`URL` of the relay, the same as --connect")
	f.IntVar(&cfg.PID, "pid", 0, "process `ID` of the relay, to measure its CPU and memory")
	f.Float64Var(&cfg.Load.Rate, "rate", 10, "`FRAMES` a second")
	f.IntVar(&cfg.Load.FrameBytes, "frame-size", 300, "`BYTES` of a frame's payload")
	f.IntVar(&cfg.Load.GroupFrames, "group-size", 1, "`FRAMES` of a group")
	f.IntVar(&cfg.Load.Viewers, "viewers", 100, "`NUMBER` of viewers")
	f.DurationVar(&cfg.Window, "duration", 10*time.Second, "`TIME` to measure")
	f.DurationVar(&cfg.Warmup, "warmup", 2*time.Second, "`TIME` that frames flow before that")
	f.DurationVar(&cfg.Ramp, "ramp", time.Second, "spread the viewers' connects over this `TIME`")
	f.DurationVar(&cfg.Grace, "grace", time.Second, "`TIME` to wait for late frames")
	f.StringVar(&cfg.Path, "broadcast", "", "`PATH` to publish under (default: a new one)")
	f.BoolVar(&asJSON, "json", false, "print everything as JSON")
	rest, err := f.parse(args, 1)
	if err != nil {
		return err
	}
	t, err := takeTarget(ctx, f, conn, rest)
	if err != nil {
		return err
	}
	cfg.URL, cfg.Dial, cfg.Version = t.url, t.dial, t.version
	if err := cfg.Check(); err != nil {
		return f.wrong("%w", err)
	}
	result, err := bench.Fanout(ctx, cfg)
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(std.out).Encode(result)
	}
	return result.Print(std.out)
}

// benchTarget is a relay to load, whom to trust there and what to speak.
type benchTarget struct {
	url     string
	dial    transport.DialConfig
	version lite.Version
}

// takeTarget reads a target from the arguments and flags of a command.
func takeTarget(ctx context.Context, f *flagSet, conn *connection, args []string) (t benchTarget, err error) {
	rest, err := conn.take(args)
	if err != nil {
		return t, err
	}
	if len(rest) > 0 {
		return t, f.wrong("%q is not a URL", rest[0])
	}
	if t.version, err = oneVersion(f, conn.protocols); err != nil {
		return t, err
	}
	if t.url, err = conn.target(); err != nil {
		return t, err
	}
	t.dial, err = conn.dial(ctx)
	return t, err
}

// oneVersion is the version to measure with: the one given, or the newest that
// all relays we compare with speak.
func oneVersion(f *flagSet, names []string) (lite.Version, error) {
	switch len(names) {
	case 0:
		return lite.V05, nil
	case 1:
		v, err := lite.ParseVersion(names[0])
		if err != nil {
			return v, f.wrong("--protocol: %w", err)
		}
		return v, nil
	}
	return 0, f.wrong("--protocol: one version at a time")
}
