package conf

import (
	"errors"

	"github.com/moqmesh/moqmesh/internal/config"
)

// Report tells where the values of a configuration came from, and what is
// worth a warning.
type Report = config.Report

// Build is the version that --version prints; the release build sets it.
var Build = "devel"

func schema() *config.Schema[Relay] {
	return config.New(Default(), config.Options{
		Program: "moqmesh-relay", Version: Build, Prefix: "MOQ_",
		Summary:     "moqmesh-relay is a Media over QUIC relay.",
		Aliases:     released,
		Unsupported: unsupported,
	})
}

// Load merges the command line (without the program's name), the environment
// and the file that the command line names, and validates the result. It
// reads nothing by itself: env and readFile are usually [os.LookupEnv] and
// [os.ReadFile].
//
// The error holds every problem of every source, each with its place, or is a
// [*config.Stop] when the command line asks for an answer; [config.Exit]
// handles both. The report is valid in either case.
func Load(args []string, env func(string) (string, bool), readFile func(string) ([]byte, error)) (Relay, Report, error) {
	s := schema()
	r, rep, err := s.Load(config.Sources{Args: args, Env: env, ReadFile: readFile})
	var stop *config.Stop
	if errors.As(err, &stop) {
		return r, *rep, err
	}
	settle(&r, rep)
	problems, _ := err.(config.Problems)
	problems = append(problems, rep.Locate(r.problems())...)
	if err := problems.Err(); err != nil {
		return r, *rep, err
	}
	if rep.PrintConfig {
		return r, *rep, &config.Stop{Output: s.Print(r, rep)}
	}
	return r, *rep, nil
}

// settle applies the defaults that depend on other settings.
func settle(r *Relay, rep *Report) {
	_, chosen := rep.Origins["listen.bind"]
	if !chosen && (r.Listen.TCP.Bind != "" || r.Listen.Unix.Bind != "") {
		r.Listen.Bind = ""
	}
}

// Change is a setting that differs between two configurations.
type Change = config.Change

// Changes lists what differs between a running configuration and a new one,
// in the order of the documentation. A change that is not Live waits for a
// restart; the others may be applied without touching it.
func Changes(running, next Relay) []Change { return schema().Changes(running, next) }

// Keys describes every setting, for documentation.
func Keys() []config.Key { return schema().Keys() }
