package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Source is a kind of place that a value comes from, weakest first.
type Source int

// The sources in order of precedence: a later one wins.
const (
	Default Source = iota
	File
	Env
	Flag
)

// Origin says where a value was written. Its zero value means the default.
type Origin struct {
	Source Source
	Name   string // file name, environment variable, or flag with its dashes
	Line   int    // 1-based, in a file only
	Column int    // 1-based, in bytes, in a file only
}

// String gives file:line:column, the variable, the flag, or "default".
func (o Origin) String() string {
	switch {
	case o.Source == Default:
		return "default"
	case o.Line > 0:
		return fmt.Sprintf("%s:%d:%d", o.Name, o.Line, o.Column)
	}
	return o.Name
}

// Problem is one thing wrong with, or worth saying about, a configuration. It
// never holds the value of a secret.
type Problem struct {
	Origin Origin
	Key    string // dotted TOML key as it was spelled; empty when no key is meant
	Text   string // what is wrong and what is accepted
	Usage  bool   // the command line itself is wrong
}

// Error gives the place, the key where the place does not name it, and the text.
func (p Problem) Error() string {
	var parts []string
	if p.Origin.Source != Default {
		parts = append(parts, p.Origin.String())
	}
	if p.Key != "" && p.Origin.Source <= File {
		parts = append(parts, p.Key)
	}
	return strings.Join(append(parts, p.Text), ": ")
}

// Problems are all problems of one configuration. As an error it is one line each.
type Problems []Problem

// Error joins the lines of all problems.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Err is ps as an error, nil when there is none.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// sort orders by source, strongest first, and by place within the file.
func (ps Problems) sort() {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(b.Origin.Source, a.Origin.Source),
			cmp.Compare(a.Origin.Line, b.Origin.Line),
			cmp.Compare(a.Origin.Column, b.Origin.Column))
	})
}

// usage reports whether the command line is among the culprits.
func (ps Problems) usage() bool {
	for _, p := range ps {
		if p.Usage {
			return true
		}
	}
	return false
}

// Stop is the error of a command line that asked for an answer instead of a
// run: --help, --version or --print-config.
type Stop struct{ Output string }

// Error names the situation; the answer itself is Output.
func (s *Stop) Error() string { return "nothing to run: an answer was asked for" }

// Exit prints err the way a command should end and returns the exit status: 0
// after the answer of a [Stop] on stdout, 2 for a wrong command line, 1 for
// everything else.
func Exit(err error, stdout, stderr io.Writer) int {
	var stop *Stop
	if errors.As(err, &stop) {
		io.WriteString(stdout, stop.Output)
		return 0
	}
	fmt.Fprintln(stderr, err)
	var ps Problems
	if errors.As(err, &ps) && ps.usage() {
		return 2
	}
	return 1
}
