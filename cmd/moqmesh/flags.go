package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// flagSet is the flags of one command, which may stand before, between and after
// its other arguments.
type flagSet struct {
	*flag.FlagSet
	synopsis string // the other arguments
	about    string // what the command does
}

func newFlags(command, synopsis, about string) *flagSet {
	f := &flagSet{flag.NewFlagSet(command, flag.ContinueOnError), synopsis, about}
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	return f
}

// parse returns the arguments that are not flags, at most max.
func (f *flagSet) parse(args []string, max int) (others []string, err error) {
	args, literal := cut(args)
	for {
		err := f.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			return nil, &helpError{f.help()}
		}
		if err != nil {
			return nil, f.wrong("%v", err)
		}
		if f.NArg() == 0 {
			break
		}
		others = append(others, f.Arg(0))
		args = f.Args()[1:]
	}
	if others = append(others, literal...); len(others) > max {
		return nil, f.wrong("unexpected argument %q", others[max])
	}
	return others, nil
}

// cut splits args at "--": what follows is no flag.
func cut(args []string) (before, after []string) {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[:i], args[i+1:]
	}
	return args, nil
}

// wrong says what is not right with the command line.
func (f *flagSet) wrong(format string, args ...any) error {
	return &usageError{f.Name(), fmt.Errorf(format, args...)}
}

// help is the answer to -h.
func (f *flagSet) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s\n\n%s\nFlags:\n", strings.Join(strings.Fields(f.Name()+" [flags] "+f.synopsis), " "), f.about)
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	f.VisitAll(func(fl *flag.Flag) {
		value, text := flag.UnquoteUsage(fl)
		fmt.Fprintf(w, "  --%s\t%s\n", strings.TrimSpace(fl.Name+" "+value), text+initial(fl))
	})
	w.Flush()
	return b.String() + statuses
}

// initial is a default as the help shows it; nothing where it says nothing.
func initial(fl *flag.Flag) string {
	switch fl.DefValue {
	case "", "0", "0s", "false", "[]":
		return ""
	}
	return " (default " + fl.DefValue + ")"
}

// usage lists the commands of a program.
func usage(program string, list []command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s COMMAND [arguments]\n\n", program)
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	for _, c := range list {
		fmt.Fprintf(w, "  %s\t%s\n", c.name, c.summary)
	}
	w.Flush()
	fmt.Fprintf(&b, "\nEach answers -h.\n")
	return b.String()
}

// texts is a flag that may be repeated. With a separator one value may also hold
// several.
type texts struct {
	list      *[]string
	separator string
}

func (t texts) Set(value string) error {
	if t.separator == "" {
		*t.list = append(*t.list, value)
		return nil
	}
	*t.list = append(*t.list, strings.Split(value, t.separator)...)
	return nil
}

func (t texts) String() string { return "" }

// given says whether a flag was on the command line.
func (f *flagSet) given(name string) (found bool) {
	f.Visit(func(fl *flag.Flag) { found = found || fl.Name == name })
	return found
}
