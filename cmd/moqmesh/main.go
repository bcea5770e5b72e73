// Command moqmesh is the people's tool of the relay: it publishes and reads
// broadcasts, lists them, makes tokens and checks configuration files.
//
//	moqmesh COMMAND [arguments]
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/moqmesh/moqmesh/relay/conf"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// command is one word after "moqmesh".
type command struct {
	name, summary string
	main          func(ctx context.Context, args []string, std streams) int
}

func commands() []command {
	return []command{
		{"publish", "publish lines, a file or made-up frames as a broadcast", publishMain},
		{"subscribe", "print what a track carries", subscribeMain},
		{"announced", "list the broadcasts that are there", announcedMain},
		{"routes", "show where a relay pulls broadcasts from, and why", routesMain},
		{"fetch", "print one group of a track", fetchMain},
		{"token", "make and check keys and tokens", tokenMain},
		{"bench", "measure relays under load", benchMain},
		{"demo", "run a relay and a publisher here, and a page that watches", demoMain},
		{"check", "validate a relay's configuration file", checkMain},
		{"version", "print version and commit", versionMain},
	}
}

// run is the program: it returns the exit status.
func run(ctx context.Context, args []string, std streams) int {
	if len(args) == 0 {
		fmt.Fprint(std.err, usage("moqmesh", commands()), statuses)
		return exitUsage
	}
	switch args[0] {
	case "-h", "-help", "--help", "help":
		fmt.Fprint(std.out, usage("moqmesh", commands()), statuses)
		return exitOK
	case "demo-publisher": // a process of the demo, not for people
		return demoPublisherMain(ctx, args[1:], std)
	case "-version", "--version":
		return versionMain(ctx, nil, std)
	}
	return dispatch(ctx, "moqmesh", commands(), args, std)
}

// dispatch runs the command that args begins with.
func dispatch(ctx context.Context, program string, list []command, args []string, std streams) int {
	i := slices.IndexFunc(list, func(c command) bool { return c.name == args[0] })
	if i < 0 {
		return report(std, program, &usageError{program, fmt.Errorf("unknown command %q", args[0])})
	}
	return list[i].main(ctx, args[1:], std)
}

// checkMain is "moqmesh check".
func checkMain(ctx context.Context, args []string, std streams) int {
	return conf.CheckMain(ctx, args, std.out, std.err)
}
