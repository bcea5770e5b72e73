package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/moqmesh/moqmesh/bench"
	"github.com/moqmesh/moqmesh/internal/certs"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

const benchUsage = `Usage: moqmesh bench COMMAND [flags]

  fanout    one publisher and many viewers through any relay
  compare   several relays in turn, into bench/results

Each answers -h.
`

// loadGC is how far the heap may grow between collections, in percent: the load
// shares the machine with the relay, and has memory to spare.
const loadGC = 400

// benchMain runs "moqmesh bench" and returns the exit status.
func benchMain(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, benchUsage)
		return 2
	}
	defer debug.SetGCPercent(debug.SetGCPercent(loadGC))
	var err error
	switch args[0] {
	case "fanout":
		err = benchFanout(ctx, args[1:], stdout, stderr)
	case "compare":
		err = benchCompare(ctx, args[1:], stdout, stderr)
	case "help", "-h", "--help":
		fmt.Fprint(stdout, benchUsage)
	default:
		fmt.Fprintf(stderr, "moqmesh bench: unknown command %q\n\n%s", args[0], benchUsage)
		return 2
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	}
	fmt.Fprintln(stderr, "moqmesh bench:", err)
	return 1
}

// errUsage is a wrong command line that was already reported.
var errUsage = errors.New("usage")

// parseBench parses flags that report their own errors.
func parseBench(flags *flag.FlagSet, args []string, stderr io.Writer) error {
	flags.SetOutput(stderr)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return errUsage
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "moqmesh bench: unexpected argument %q\n", flags.Arg(0))
		return errUsage
	}
	return nil
}

// benchFanout is "moqmesh bench fanout".
func benchFanout(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	cfg, asJSON := bench.FanoutConfig{}, false
	protocol, tls := lite.V05.String(), certs.ClientConfig{}
	flags := flag.NewFlagSet("moqmesh bench fanout", flag.ContinueOnError)
	flags.StringVar(&cfg.URL, "relay", "", "`URL` of the relay: moqt://, https:// or ws:// choose the transport")
	flags.IntVar(&cfg.PID, "pid", 0, "process `id` of the relay, to measure its CPU and memory")
	flags.StringVar(&protocol, "protocol", protocol, "MoQ `version` to speak")
	flags.Float64Var(&cfg.Load.Rate, "rate", 10, "frames per second")
	flags.IntVar(&cfg.Load.FrameBytes, "frame-size", 300, "`bytes` of a frame's payload")
	flags.IntVar(&cfg.Load.GroupFrames, "group-size", 1, "`frames` of a group")
	flags.IntVar(&cfg.Load.Viewers, "viewers", 100, "number of viewers, each with a session")
	flags.DurationVar(&cfg.Window, "duration", 10*time.Second, "how long to measure")
	flags.DurationVar(&cfg.Warmup, "warmup", 2*time.Second, "how long frames flow before that")
	flags.DurationVar(&cfg.Ramp, "ramp", time.Second, "spread the viewers' connects over this time")
	flags.DurationVar(&cfg.Grace, "grace", time.Second, "how long to wait for late frames")
	flags.BoolVar(&tls.Insecure, "tls-disable-verify", false, "accept every certificate")
	flags.BoolVar(&asJSON, "json", false, "print the whole result as JSON")
	if err := parseBench(flags, args, stderr); err != nil {
		return err
	}
	var err error
	if cfg.Version, err = lite.ParseVersion(protocol); err != nil {
		return err
	}
	if cfg.TLS, err = certs.ClientTLS(ctx, tls); err != nil {
		return err
	}
	result, err := bench.Fanout(ctx, cfg)
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(stdout).Encode(result)
	}
	return result.Print(stdout)
}

// benchCompare is "moqmesh bench compare".
func benchCompare(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	cfg := bench.CompareConfig{
		Progress: stderr,
		Ramp:     300 * time.Millisecond, Grace: 200 * time.Millisecond,
	}
	peers, out, protocol, quick := os.Getenv("MOQ_PEERS"), "", lite.V05.String(), false
	loads, schemes := "chat,audio,sd,hd", "moqt,https"
	flags := flag.NewFlagSet("moqmesh bench compare", flag.ContinueOnError)
	flags.StringVar(&peers, "peers", peers, "`folder` of the other relays and of moq-bench; the default is $MOQ_PEERS")
	flags.StringVar(&out, "out", "bench/results", "`folder` for the report")
	flags.StringVar(&protocol, "protocol", protocol, "MoQ `version` to speak with all")
	flags.StringVar(&loads, "loads", loads, "`names` of the loads")
	flags.StringVar(&schemes, "schemes", schemes, "URL `schemes`, which choose the transports")
	flags.IntVar(&cfg.Rounds, "rounds", 5, "how often everything is measured")
	flags.DurationVar(&cfg.Window, "duration", 4*time.Second, "how long each measurement takes")
	flags.DurationVar(&cfg.Warmup, "warmup", 500*time.Millisecond, "how long frames flow before that")
	flags.StringVar(&cfg.RelayCPUs, "relay-cpus", "0", "`processors` for the relays, as taskset takes them")
	flags.StringVar(&cfg.LoadCPUs, "load-cpus", "1", "`processors` for the load")
	flags.BoolVar(&quick, "quick", false, "one round, no saturation and no second generator")
	if err := parseBench(flags, args, stderr); err != nil {
		return err
	}
	var err error
	if cfg.Version, err = lite.ParseVersion(protocol); err != nil {
		return err
	}
	cfg.Schemes = strings.Split(schemes, ",")
	if cfg.Loads, err = bench.LoadsNamed(strings.Split(loads, ",")); err != nil {
		return err
	}
	if quick {
		cfg.Rounds = 1
	} else {
		cfg.Saturate = bench.Shapes[1]
	}
	if err := findPrograms(&cfg, peers, quick, stderr); err != nil {
		return err
	}
	report, err := bench.Compare(ctx, cfg)
	if report == nil || len(report.Measurements) == 0 {
		return err
	}
	file, writeErr := report.Write(out)
	fmt.Fprint(stdout, report.Table())
	fmt.Fprintln(stderr, "wrote", file)
	return errors.Join(err, writeErr)
}

// findPrograms fills in what is run: this program, the relay beside it, and what
// of the peers is there.
func findPrograms(cfg *bench.CompareConfig, peers string, quick bool, stderr io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cfg.Fanout = []string{self, "bench", "fanout"}
	cfg.Relays = []bench.Relay{
		{Name: "moqmesh-relay", Program: filepath.Join(filepath.Dir(self), "moqmesh-relay"), Config: bench.NewerConfig},
		{Name: "moq-relay", Program: filepath.Join(peers, "moq-relay"), Config: bench.NewerConfig},
		{Name: "moq-relay-0.14.12", Program: filepath.Join(peers, "moq-relay-0.14.12"), Config: bench.OlderConfig},
	}
	cfg.Relays = slices.DeleteFunc(cfg.Relays, func(r bench.Relay) bool { return !present(r.Program, stderr) })
	if second := filepath.Join(peers, "moq-bench"); !quick && present(second, stderr) {
		cfg.MoqBench = second
	}
	if len(cfg.Relays) == 0 {
		return errors.New("no relay to measure")
	}
	return nil
}

// present says whether a program is there, and on stderr if not.
func present(program string, stderr io.Writer) bool {
	_, err := os.Stat(program)
	if err != nil {
		fmt.Fprintln(stderr, "left out:", err)
	}
	return err == nil
}
