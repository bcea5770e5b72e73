package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/moqmesh/moqmesh/bench"
)

const benchHoldAbout = `Opens many sessions and keeps them until it is interrupted: idle ones, or viewers
of the broadcast of a "moqmesh bench fanout --broadcast" that comes later. Prints a
line of JSON when all are open, and one of how they fared at the end.
` + connectAbout

// benchHoldMain is "moqmesh bench hold".
func benchHoldMain(ctx context.Context, args []string, std streams) int {
	return report(std, "moqmesh bench hold", benchHold(ctx, args, std))
}

func benchHold(ctx context.Context, args []string, std streams) error {
	var cfg bench.HoldConfig
	f := newFlags("moqmesh bench hold", "[URL]", benchHoldAbout)
	conn := addConnection(f)
	f.IntVar(&cfg.Sessions, "sessions", 100, "`NUMBER` of sessions")
	f.DurationVar(&cfg.Ramp, "ramp", time.Second, "spread their connects over this `TIME`")
	f.StringVar(&cfg.Watch, "watch", "", "read the broadcast of this `PATH` when it comes (default: stay idle)")
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
	lines := json.NewEncoder(std.out)
	held, err := bench.Hold(ctx, cfg, func(h bench.Held) { lines.Encode(h) })
	if err != nil {
		return err
	}
	return lines.Encode(held)
}
