package conf

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/moqmesh/moqmesh/internal/config"
	"github.com/moqmesh/moqmesh/internal/hostcheck"
)

const checkUsage = `Usage: moqmesh check [--host] [--json] [--strict] [FILE.toml]

Validates a relay's configuration file as moqmesh-relay would at its start, and
looks at the files that it names. The environment is not considered.

  --host    compare the limits of this machine with the configuration;
            the file may be left out
  --json    print one JSON object
  --strict  warnings and findings about the machine count as problems

Exit status: 0 valid, 1 problems, 2 wrong use.
`

// result is what a check found.
type result struct {
	File     string              `json:"file,omitempty"`
	Valid    bool                `json:"valid"`
	Problems []line              `json:"problems"`
	Warnings []line              `json:"warnings"`
	Host     []hostcheck.Finding `json:"host,omitempty"`
}

// line is a problem in JSON. Line and Column are 0 when it has no place.
type line struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Key    string `json:"key,omitempty"`
	Text   string `json:"text"`

	human string
}

func lines(ps config.Problems) []line {
	out := make([]line, len(ps))
	for i, p := range ps {
		out[i] = line{p.Origin.Name, p.Origin.Line, p.Origin.Column, p.Key, p.Text, p.Error()}
	}
	return out
}

// CheckMain is "moqmesh check": args are the words after "check". It prints
// every problem and returns the exit status.
func CheckMain(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("check", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	host := fs.Bool("host", false, "")
	asJSON := fs.Bool("json", false, "")
	strict := fs.Bool("strict", false, "")
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		io.WriteString(stdout, checkUsage)
		return 0
	case err != nil || fs.NArg() > 1 || fs.NArg() == 0 && !*host:
		fmt.Fprint(stderr, checkUsage)
		return 2
	}
	res := check(fs.Arg(0), *host)
	res.Valid = len(res.Problems) == 0 && !(*strict && len(res.Warnings)+len(res.Host) > 0)
	if err := ctx.Err(); err != nil {
		fmt.Fprintln(stderr, context.Cause(ctx))
		return 1
	}
	return res.print(*asJSON, stdout)
}

// check looks at one file, or with an empty name at the defaults.
func check(name string, host bool) result {
	r, rep := Default(), Report{}
	var problems config.Problems
	if name != "" {
		var err error
		r, rep, err = Load([]string{"--", name}, noEnv, os.ReadFile)
		errors.As(err, &problems)
		problems = append(problems, rep.Locate(append(NotYet(r), missingFiles(r)...))...)
	}
	res := result{File: name, Problems: lines(problems), Warnings: lines(rep.Warnings)}
	if !host {
		return res
	}
	readings, err := hostcheck.Read()
	if err != nil {
		res.Problems = append(res.Problems, line{Text: err.Error(), human: err.Error()})
	}
	res.Host = hostcheck.Evaluate(readings, hostcheck.Demand{Sessions: r.Limits.Sessions, GSO: r.QUIC.GSO})
	return res
}

func noEnv(string) (string, bool) { return "", false }

func (res result) print(asJSON bool, w io.Writer) int {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		if err := enc.Encode(res); err != nil {
			return 1
		}
	} else {
		res.printText(w)
	}
	if !res.Valid {
		return 1
	}
	return 0
}

func (res result) printText(w io.Writer) {
	for _, p := range res.Problems {
		fmt.Fprintln(w, p.human)
	}
	for _, p := range res.Warnings {
		fmt.Fprintln(w, "warning:", p.human)
	}
	for _, f := range res.Host {
		fmt.Fprintln(w, "host:", f)
	}
	if res.Valid && res.File != "" {
		fmt.Fprintf(w, "%s is valid\n", res.File)
	}
}
