// Command moqmesh-relay runs one relay.
//
//	moqmesh-relay [FILE.toml] [flags]
//
// SIGINT and SIGTERM drain it, a second one ends it at once, SIGHUP reads the
// configuration again.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/moqmesh/moqmesh/internal/config"
	"github.com/moqmesh/moqmesh/internal/hostcheck"
	"github.com/moqmesh/moqmesh/relay"
	"github.com/moqmesh/moqmesh/relay/conf"
)

func main() {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr, signals))
}

// run is the program: it returns the exit status.
func run(args []string, stdout, stderr io.Writer, signals <-chan os.Signal) int {
	cfg, report, err := conf.Load(args, os.LookupEnv, os.ReadFile)
	if err != nil {
		return config.Exit(err, stdout, stderr)
	}
	log, level := relay.NewLog(stderr, cfg.Log)
	for _, w := range report.Warnings {
		log.Warn("configuration", "warning", w)
	}
	warnOfHost(log, cfg)
	r, err := relay.New(cfg, relay.Options{Log: log, Level: level})
	if err == nil {
		err = r.Listen(context.Background())
	}
	if err != nil {
		fmt.Fprintln(stderr, "moqmesh-relay:", err)
		return 1
	}
	p := &program{r: r, args: args, file: report.File, log: log}
	if err := p.serve(signals); err != nil {
		fmt.Fprintln(stderr, "moqmesh-relay:", err)
		return 1
	}
	return 0
}

// warnOfHost says what the operating system grants too little of.
func warnOfHost(log *slog.Logger, cfg conf.Relay) {
	readings, err := hostcheck.Read()
	if err != nil {
		log.Debug("host check", "err", err)
	}
	for _, f := range hostcheck.Evaluate(readings, hostcheck.Demand{Sessions: cfg.Limits.Sessions, GSO: cfg.QUIC.GSO}) {
		log.Warn("host limit", "check", f.Check, "found", f.Text, "cure", f.Cure)
	}
}

// program is a running relay with what reloads it.
type program struct {
	r    *relay.Relay
	args []string
	file string // configuration file; empty = none
	log  *slog.Logger
}

// serve runs the relay until a signal has drained it.
func (p *program) serve(signals <-chan os.Signal) error {
	ctx, drain := context.WithCancel(context.Background())
	defer drain()
	kill, now := context.WithCancel(context.Background())
	defer now()
	var wg sync.WaitGroup
	defer wg.Wait()
	over, stop := context.WithCancel(context.Background())
	defer stop()
	wg.Go(func() { p.follow(over, signals, drain, now) })
	if p.file != "" {
		wg.Go(func() { p.watch(over) })
	}
	notify("READY=1")
	return p.r.Run(ctx, kill)
}

// follow turns signals into what they mean.
func (p *program) follow(ctx context.Context, signals <-chan os.Signal, drain, kill func()) {
	draining := false
	for {
		select {
		case s := <-signals:
			switch {
			case s == syscall.SIGHUP:
				p.reload()
			case draining:
				kill()
			default:
				p.log.Info("shutdown signal received; draining sessions (signal again to exit immediately)")
				draining = true
				notify("STOPPING=1")
				drain()
			}
		case <-ctx.Done():
			return
		}
	}
}

// reload reads the configuration again. What is wrong with it is logged, and the
// running one stays.
func (p *program) reload() {
	next, _, err := conf.Load(p.args, os.LookupEnv, os.ReadFile)
	if err == nil {
		err = p.r.Reload(next)
	}
	if err != nil {
		p.log.Error("configuration not reloaded; keeping the running one", "err", err)
		return
	}
	p.log.Info("configuration reloaded")
}
