// Command cmd is "moqmesh bench" by itself, for as long as there is no moqmesh
// to be part of.
package main

import (
	"context"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "bench" {
		args = args[1:]
	}
	os.Exit(benchMain(ctx, args, os.Stdout, os.Stderr))
}
