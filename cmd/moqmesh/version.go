package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/moqmesh/moqmesh/relay/conf"
)

// versionMain is "moqmesh version".
func versionMain(_ context.Context, args []string, std streams) int {
	f := newFlags("moqmesh version", "", "Prints the version, the commit it was built from and the Go release.\n")
	if _, err := f.parse(args, 0); err != nil {
		return report(std, f.Name(), err)
	}
	fmt.Fprintf(std.out, "moqmesh %s, commit %s, %s\n", conf.Build, commit(), runtime.Version())
	return exitOK
}

// commit is what the Go tool noted at the build.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, modified := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "-dirty"
		}
	}
	return revision[:min(len(revision), 12)] + modified
}
