package config

import (
	"fmt"
	"reflect"
	"slices"
)

// Sources are what a configuration is loaded from. The functions must be set;
// [os.LookupEnv] and [os.ReadFile] are the usual ones.
type Sources struct {
	Args     []string // without the program's name
	Env      func(string) (string, bool)
	ReadFile func(string) ([]byte, error)
}

// Report tells how a configuration came about.
type Report struct {
	File        string            // the configuration file, "" for none
	Origins     map[string]Origin // by canonical key; keys left at their default are absent
	Warnings    Problems          // deprecated spellings and keys without effect
	PrintConfig bool              // --print-config was given
}

// Locate gives ps, found in the merged configuration, the places of their keys.
func (r *Report) Locate(ps Problems) Problems {
	out := slices.Clone(ps)
	for i := range out {
		out[i].Origin = r.Origins[out[i].Key]
	}
	return out
}

// entry is one setting as one source has it.
type entry struct {
	spelling
	origin Origin
	value  any // TOML value or texts
	parsed reflect.Value
}

// loader collects entries and problems over all sources.
type loader[T any] struct {
	schema   *Schema[T]
	entries  []entry
	problems Problems
	warnings Problems
}

// Load merges the sources over the defaults. The error is a [*Stop] when the
// command line asks for help or the version, otherwise [Problems] holding
// every fault of every source; the configuration is then as complete as the
// faultless settings make it.
func (s *Schema[T]) Load(src Sources) (T, *Report, error) {
	l := &loader[T]{schema: s}
	args := l.readArgs(src.Args)
	switch {
	case args.help:
		return s.defaults, &Report{}, &Stop{Output: s.Help()}
	case args.version:
		return s.defaults, &Report{}, &Stop{Output: s.options.Program + " " + s.options.Version + "\n"}
	}
	if args.file != "" {
		l.openFile(args.file, src.ReadFile)
	}
	l.readEnv(src.Env)
	cfg, origins := l.merge()
	l.problems.sort()
	l.warnings.sort()
	r := &Report{File: args.file, Origins: origins, Warnings: l.warnings, PrintConfig: args.print}
	return cfg, r, l.problems.Err()
}

func (l *loader[T]) openFile(name string, read func(string) ([]byte, error)) {
	data, err := read(name)
	if err != nil {
		l.problems = append(l.problems, Problem{Text: fmt.Sprintf("read the configuration: %v", err)})
		return
	}
	d, err := parseDocument(name, data)
	if err != nil {
		l.problems = append(l.problems, err.(Problem))
		return
	}
	l.readFile(d, nil, d.tree)
}

// take records a setting; its value is read when all sources are known.
func (l *loader[T]) take(e entry) { l.entries = append(l.entries, e) }

// merge reads every entry, also those that a stronger source hides, and sets
// the strongest of each field.
func (l *loader[T]) merge() (T, map[string]Origin) {
	type slot struct {
		field  *field
		source Source
	}
	taken := map[slot]*entry{}
	for i := range l.entries {
		e := &l.entries[i]
		if !l.parse(e) {
			continue
		}
		l.remark(e)
		at := slot{e.field, e.origin.Source}
		if other := taken[at]; other == nil {
			taken[at] = e
		} else {
			l.conflict(other, e)
		}
	}
	cfg, origins := l.schema.defaults, map[string]Origin{}
	root := reflect.ValueOf(&cfg).Elem()
	for _, f := range l.schema.fields {
		for _, source := range []Source{Flag, Env, File} {
			if e := taken[slot{f, source}]; e != nil {
				root.FieldByIndex(f.index).Set(e.parsed)
				origins[f.Key] = e.origin
				break
			}
		}
	}
	return cfg, origins
}

func (l *loader[T]) parse(e *entry) bool {
	v, err := decode(e.field.typ, e.value)
	if err != nil {
		l.failValue(e, err)
		return false
	}
	if e.alias != nil && e.alias.Convert != nil {
		v = reflect.ValueOf(e.alias.Convert(v.Interface()))
	}
	e.parsed = v
	return true
}

// failValue leaves out what was found where it may be a secret.
func (l *loader[T]) failValue(e *entry, err error) {
	text := err.Error()
	if m, ok := err.(errMismatch); ok && e.field.secret != "" {
		text = "found a value that is not shown, want " + m.want
	}
	l.problems = append(l.problems,
		Problem{Origin: e.origin, Key: e.key, Text: text, Usage: e.origin.Source == Flag})
}

// conflict reports two spellings of one field in one source that disagree.
func (l *loader[T]) conflict(a, b *entry) {
	if reflect.DeepEqual(a.parsed.Interface(), b.parsed.Interface()) {
		return
	}
	other := a.origin.String()
	if a.origin.Source == File {
		other = fmt.Sprintf("%s (%s)", a.key, a.origin)
	}
	l.fail(b.origin, b.key, "conflicts with "+other+", another spelling of the same setting")
}

// remark warns about a released spelling and about tables without effect.
func (l *loader[T]) remark(e *entry) {
	if e.alias != nil {
		l.warn(e.origin, e.key, "released spelling, write "+e.modern())
	}
	if e.field.inert == "" {
		return
	}
	for _, w := range l.warnings {
		if w.Text == e.field.inert {
			return
		}
	}
	l.warn(e.origin, e.key, e.field.inert)
}

// modern is the canonical name in the language of the entry's source.
func (e *entry) modern() string {
	switch e.origin.Source {
	case Env:
		return e.field.Env
	case Flag:
		return "--" + e.field.Flag
	}
	return e.field.Key
}

func (l *loader[T]) fail(at Origin, key, text string) {
	l.problems = append(l.problems, Problem{Origin: at, Key: key, Text: text})
}

func (l *loader[T]) failUsage(flag, text string) {
	l.problems = append(l.problems, Problem{Origin: Origin{Source: Flag, Name: flag}, Text: text, Usage: true})
}

func (l *loader[T]) warn(at Origin, key, text string) {
	l.warnings = append(l.warnings, Problem{Origin: at, Key: key, Text: text})
}
