package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Options say what a program's configuration has beyond its struct.
type Options struct {
	Program string // name of the command, for the help
	Summary string // one sentence, for the help
	Version string // printed by --version
	Prefix  string // of environment variables, such as "MOQ_"

	Aliases     []Alias
	Unsupported []Unsupported
}

// Alias is a released spelling that still works, with one warning.
type Alias struct {
	Old string // dotted key; empty when there is only an old Flag
	New string // key to write today
	// Flag and Env are the old names where they do not follow from Old.
	Flag, Env string
	// Convert translates a value of the old meaning, decoded as the new key's type; nil = the same.
	Convert func(any) any
}

// Unsupported is a key that other programs know and this one does not have.
type Unsupported struct {
	Key      string
	Flag     string // where it does not follow from Key
	Note     string // what to do instead; may be empty
	Harmless bool   // warn and go on
}

// field is one setting: a leaf of the struct.
type field struct {
	Key, Flag, Env, Help string
	table                string // its table's key, "" at the top
	inert                string
	live                 bool
	secret               string
	index                []int
	typ                  reflect.Type
}

// spelling is one way to name a field.
type spelling struct {
	key, flag, env string
	alias          *Alias // nil: the canonical one
	field          *field
}

// Schema is what [New] learnt about a configuration struct T. It is not
// changed afterwards and may be shared.
type Schema[T any] struct {
	options     Options
	defaults    T
	fields      []*field
	byKey       map[string]spelling
	byFlag      map[string]spelling
	spellings   []spelling // canonical first, in struct order
	unsupported map[string]Unsupported
}

// New reads the tags of T; defaults is the configuration when no source says
// anything. It panics when a tag or two names do not fit together.
func New[T any](defaults T, o Options) *Schema[T] {
	s := &Schema[T]{
		options: o, defaults: defaults,
		byKey: map[string]spelling{}, byFlag: map[string]spelling{},
		unsupported: map[string]Unsupported{},
	}
	s.collect(reflect.TypeFor[T](), field{})
	for _, f := range s.fields {
		s.add(spelling{key: f.Key, flag: f.Flag, env: f.Env, field: f})
	}
	s.addAliases()
	for _, u := range o.Unsupported {
		s.unsupported[u.Key] = u
	}
	return s
}

// collect appends the leaves of t; above holds what its fields inherit.
func (s *Schema[T]) collect(t reflect.Type, above field) {
	for i := range t.NumField() {
		sf := t.Field(i)
		name, ok := sf.Tag.Lookup("key")
		if !ok {
			continue
		}
		f := s.describe(sf, name, above)
		f.index = append(slices.Clone(above.index), i)
		if isTable(sf.Type) {
			s.collect(sf.Type, f)
		} else {
			s.fields = append(s.fields, &f)
		}
	}
}

func (s *Schema[T]) describe(sf reflect.StructField, name string, above field) field {
	f := field{
		Key: join(above.Key, name), table: above.Key, typ: sf.Type,
		Help: sf.Tag.Get("help"), secret: sf.Tag.Get("secret"),
		live: above.live || sf.Tag.Get("reload") == "live", inert: above.inert,
	}
	if note := sf.Tag.Get("inert"); note != "" {
		f.inert = note
	}
	f.Flag, f.Env = flagName(f.Key), s.options.Prefix+envName(f.Key)
	if flag, ok := sf.Tag.Lookup("flag"); ok {
		f.Flag, f.Env = flag, s.options.Prefix+envName(flag)
	}
	if f.Flag == "-" {
		f.Flag, f.Env = "", ""
	}
	return f
}

// isTable reports whether fields of t are looked for inside it.
func isTable(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != amountType && !isValue(t)
}

func (s *Schema[T]) add(sp spelling) {
	if _, taken := s.byKey[sp.key]; taken {
		panic(fmt.Sprintf("config: key %s is defined twice", sp.key))
	}
	if sp.key != "" {
		s.byKey[sp.key] = sp
	}
	s.spellings = append(s.spellings, sp)
	other, taken := s.byFlag[sp.flag]
	if taken && other.field != sp.field {
		panic(fmt.Sprintf("config: flag --%s means both %s and %s", sp.flag, other.field.Key, sp.field.Key))
	}
	if sp.flag != "" && !taken { // an old key may share the flag of the new one
		s.byFlag[sp.flag] = sp
	}
}

func (s *Schema[T]) addAliases() {
	for i := range s.options.Aliases {
		a := &s.options.Aliases[i]
		f, ok := s.byKey[a.New]
		if !ok {
			panic("config: no key " + a.New + " for its old name " + a.Old + a.Flag)
		}
		s.add(s.aliasOf(a, f.field))
	}
}

func (s *Schema[T]) aliasOf(a *Alias, f *field) spelling {
	sp := spelling{key: a.Old, flag: a.Flag, env: a.Env, alias: a, field: f}
	if sp.flag == "" {
		sp.flag = flagName(a.Old)
	}
	if sp.env == "" && a.Old != "" {
		sp.env = s.options.Prefix + envName(a.Old)
	}
	return sp
}

// keys lists every key that may be written, for hints.
func (s *Schema[T]) keys() []string {
	var out []string
	for _, sp := range s.spellings {
		if sp.key != "" {
			out = append(out, sp.key)
		}
	}
	return out
}

// tables lists every table that may be written, for hints.
func (s *Schema[T]) tables() []string {
	var out []string
	for _, key := range s.keys() {
		if i := strings.LastIndexByte(key, '.'); i > 0 && !slices.Contains(out, key[:i]) {
			out = append(out, key[:i])
		}
	}
	return out
}

func (s *Schema[T]) flags() []string {
	out := []string{"--help", "--version", "--print-config"}
	for _, sp := range s.spellings {
		if sp.flag != "" {
			out = append(out, "--"+sp.flag)
		}
	}
	return out
}

// hasBelow reports whether key is a table of known keys.
func (s *Schema[T]) hasBelow(key string) bool {
	for _, sp := range s.spellings {
		if strings.HasPrefix(sp.key, key+".") {
			return true
		}
	}
	for k := range s.unsupported {
		if strings.HasPrefix(k, key+".") {
			return true
		}
	}
	return false
}

func join(table, name string) string {
	if table == "" {
		return name
	}
	return table + "." + name
}

func flagName(key string) string { return strings.NewReplacer(".", "-", "_", "-").Replace(key) }

func envName(key string) string {
	return strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
}
