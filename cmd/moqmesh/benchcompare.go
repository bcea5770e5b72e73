package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/moqmesh/moqmesh/bench"
)

const benchCompareAbout = `Measures several relays side by side with the same loads, round by round: ours,
which lies beside this program, and what a folder holds of moq-relay and
moq-relay-0.14.12. Writes the report as JSON, Markdown and SVG, and prints the
table. Needs taskset; bench/README.md tells how to read the figures.
`

// benchCompareMain is "moqmesh bench compare".
func benchCompareMain(ctx context.Context, args []string, std streams) int {
	return report(std, "moqmesh bench compare", benchCompare(ctx, args, std))
}

func benchCompare(ctx context.Context, args []string, std streams) error {
	cfg := bench.CompareConfig{Progress: std.err, Ramp: 300 * time.Millisecond, Grace: 200 * time.Millisecond}
	var loads, protocols []string
	peers, out, quick := os.Getenv("MOQ_PEERS"), "", false
	f := newFlags("moqmesh bench compare", "", benchCompareAbout)
	f.StringVar(&peers, "peers", peers, "`FOLDER` of the other relays and of moq-bench (MOQ_PEERS)")
	f.StringVar(&out, "out", "bench/results", "`FOLDER` for the report")
	f.Var(texts{&protocols, ""}, "protocol", "`VERSION` to speak with all of them (default moq-lite-05)")
	f.Var(texts{&loads, ","}, "loads", "`NAMES` of loads, separated by commas (default chat,audio,sd,hd)")
	f.Var(texts{&cfg.Schemes, ","}, "schemes", "`SCHEMES` of URLs, which choose the transports (default moqt,https)")
	f.IntVar(&cfg.Rounds, "rounds", 5, "`NUMBER` of times that everything is measured")
	f.DurationVar(&cfg.Window, "duration", 4*time.Second, "`TIME` that each measurement takes")
	f.DurationVar(&cfg.Warmup, "warmup", 500*time.Millisecond, "`TIME` that frames flow before that")
	f.StringVar(&cfg.RelayCPUs, "relay-cpus", "0", "`PROCESSORS` for the relays, as taskset takes them")
	f.StringVar(&cfg.LoadCPUs, "load-cpus", "1", "`PROCESSORS` for the load")
	f.BoolVar(&quick, "quick", false, "one round, no saturation and no second generator")
	if _, err := f.parse(args, 0); err != nil {
		return err
	}
	if len(cfg.Schemes) == 0 {
		cfg.Schemes = []string{"moqt", "https"}
	}
	var err error
	if cfg.Version, err = oneVersion(f, protocols); err != nil {
		return err
	}
	if cfg.Loads, err = bench.LoadsNamed(loads); err != nil {
		return f.wrong("--loads: %w", err)
	}
	if quick {
		cfg.Rounds = 1
	} else {
		cfg.Saturate = bench.Shapes[1]
	}
	if err := findPrograms(&cfg, peers, quick, std); err != nil {
		return err
	}
	return compareAndWrite(ctx, cfg, out, std)
}

// compareAndWrite keeps what was measured also when the comparison ends early.
func compareAndWrite(ctx context.Context, cfg bench.CompareConfig, out string, std streams) error {
	result, err := bench.Compare(ctx, cfg)
	if result == nil || len(result.Measurements) == 0 {
		return err
	}
	file, writeErr := result.Write(out)
	if writeErr == nil {
		fmt.Fprintln(std.err, "wrote", file)
	}
	fmt.Fprint(std.out, result.Table())
	return errors.Join(err, writeErr)
}

// findPrograms fills in what is run: this program, the relay beside it, and what
// of the peers is there.
func findPrograms(cfg *bench.CompareConfig, peers string, quick bool, std streams) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cfg.Fanout = []string{self, "bench", "fanout"}
	cfg.Relays = []bench.Relay{
		ourRelay(self),
		{Name: "moq-relay", Program: filepath.Join(peers, "moq-relay"), Config: bench.NewerConfig},
		{Name: "moq-relay-0.14.12", Program: filepath.Join(peers, "moq-relay-0.14.12"), Config: bench.OlderConfig},
	}
	cfg.Relays = slices.DeleteFunc(cfg.Relays, func(r bench.Relay) bool { return !present(r.Program, std) })
	if len(cfg.Relays) == 0 {
		return errors.New("no relay to measure; \"make build\" puts ours beside this program")
	}
	if second := filepath.Join(peers, "moq-bench"); !quick && present(second, std) {
		cfg.MoqBench = second
	}
	return nil
}

// present says whether a program is there, and on standard error if not.
func present(program string, std streams) bool {
	_, err := os.Stat(program)
	if err != nil {
		fmt.Fprintln(std.err, "left out:", err)
	}
	return err == nil
}
