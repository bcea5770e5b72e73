package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/moqmesh/moqmesh/bench"
)

const benchSoakAbout = `Fills a relay with idle sessions and viewers, and stops some of the viewers now and
then (SIGSTOP). Nobody else may notice: it ends with status 1 if a frame or an idle
session is lost. Tells the latency of the other viewers while those are stopped and
while they are not, and what memory a session costs. Uses the relay that lies beside
this program, or a running one on this machine, and believes every certificate.
`

// benchSoakMain is "moqmesh bench soak".
func benchSoakMain(ctx context.Context, args []string, std streams) int {
	defer collectLate()()
	return report(std, "moqmesh bench soak", benchSoak(ctx, args, std))
}

func benchSoak(ctx context.Context, args []string, std streams) error {
	cfg, protocols, out := bench.SoakConfig{Progress: std.err}, []string(nil), ""
	f := newFlags("moqmesh bench soak", "", benchSoakAbout)
	f.StringVar(&cfg.URL, "relay", "", "`URL` of a running relay (default: start the one beside this program)")
	f.IntVar(&cfg.PID, "pid", 0, "process `ID` of that relay, to measure its CPU and memory")
	f.StringVar(&cfg.Scheme, "scheme", "moqt", "`SCHEME` of the URL of a relay that is started: moqt or https")
	f.StringVar(&cfg.RelayCPUs, "relay-cpus", "", "`PROCESSORS` for a relay that is started, as taskset takes them (default any)")
	f.Var(texts{&protocols, ""}, "protocol", "`VERSION` to speak (default moq-lite-05)")
	f.IntVar(&cfg.Load.Viewers, "viewers", 900, "`NUMBER` of viewers that always watch")
	f.IntVar(&cfg.Stopped, "stopped", 100, "`NUMBER` of viewers that are stopped now and then")
	f.IntVar(&cfg.Idle, "idle", 5000, "`NUMBER` of sessions that do nothing")
	f.Float64Var(&cfg.Load.Rate, "rate", 5, "`FRAMES` a second")
	f.IntVar(&cfg.Load.FrameBytes, "frame-size", 300, "`BYTES` of a frame's payload")
	f.IntVar(&cfg.Load.GroupFrames, "group-size", 1, "`FRAMES` of a group")
	f.IntVar(&cfg.Stops, "stops", 4, "`NUMBER` of times that viewers are stopped")
	f.DurationVar(&cfg.Phase, "phase", 4*time.Second, "`TIME` that they are stopped, then catch up, then run")
	f.IntVar(&cfg.Pace, "pace", 100, "`SESSIONS` that connect in a second")
	f.StringVar(&out, "out", "", "`FOLDER` for the result (default: only print it)")
	if _, err := f.parse(args, 0); err != nil {
		return err
	}
	var err error
	if cfg.Version, err = oneVersion(f, protocols); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cfg.Hold = []string{self, "bench", "hold"}
	if cfg.URL == "" {
		cfg.Relay = ourRelay(self)
	}
	if err := cfg.Check(); err != nil {
		return f.wrong("%w", err)
	}
	return soakAndWrite(ctx, cfg, out, std)
}

// ourRelay is the one that lies beside this program.
func ourRelay(self string) bench.Relay {
	return bench.Relay{Name: "moqmesh-relay", Program: filepath.Join(filepath.Dir(self), "moqmesh-relay"), Config: bench.NewerConfig}
}

// soakAndWrite keeps the result also when it is bad.
func soakAndWrite(ctx context.Context, cfg bench.SoakConfig, out string, std streams) error {
	result, err := bench.Soak(ctx, cfg)
	if err != nil {
		return err
	}
	fmt.Fprint(std.out, result.Table())
	if out != "" {
		file, err := result.Write(out)
		if err != nil {
			return errors.Join(result.Err(), err)
		}
		fmt.Fprintln(std.err, "wrote", file)
	}
	return result.Err()
}
