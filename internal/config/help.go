package config

import (
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Help is the text of --help: one entry for each setting, grouped by table.
func (s *Schema[T]) Help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage: %s [FLAGS] [FILE.toml]\n\n", s.options.Summary, s.options.Program)
	b.WriteString("A flag wins over its environment variable, that over the file, that over the default.\n\n")
	for _, line := range [][2]string{
		{"-h, --help", "print this and exit"},
		{"-V, --version", "print the version and exit"},
		{"    --print-config", "print each setting with its origin and exit"},
	} {
		fmt.Fprintf(&b, "  %-22s %s\n", line[0], line[1])
	}
	table := "-"
	for _, k := range s.Keys() {
		if k.table != table {
			table = k.table
			fmt.Fprintf(&b, "\n%s\n", heading(table))
		}
		writeHelp(&b, k)
	}
	return b.String()
}

func heading(table string) string {
	if table == "" {
		return "top level"
	}
	return "[" + table + "]"
}

func writeHelp(b *strings.Builder, k Key) {
	name, _ := strings.CutPrefix(k.Name, k.table+".")
	if k.Flag == "" {
		fmt.Fprintf(b, "  %s  (in the file only)\n", name)
	} else {
		fmt.Fprintf(b, "  --%s  [key %s, env %s]\n", k.Flag, name, k.Env)
	}
	form := k.Form
	if k.Default != "" {
		form += "; default " + k.Default
	}
	for _, text := range []string{k.Help, form} {
		for _, line := range wrap(text, 72) {
			fmt.Fprintf(b, "      %s\n", line)
		}
	}
}

// wrap breaks text at spaces into lines of at most width bytes.
func wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// Key describes one setting for documentation.
type Key struct {
	Name    string // canonical dotted key
	Flag    string // without dashes, "" for none
	Env     string // "" for none
	Form    string // what is accepted
	Default string // as written in TOML, "" when the default is to be unset
	Help    string
	Live    bool     // a reload applies a change
	Inert   string   // why it has no effect, "" when it has
	Old     []string // released keys that mean the same

	table string
}

// Keys lists the settings in the order of the struct.
func (s *Schema[T]) Keys() []Key {
	defaults := reflect.ValueOf(&s.defaults).Elem()
	keys := make([]Key, len(s.fields))
	for i, f := range s.fields {
		keys[i] = Key{
			Name: f.Key, Flag: f.Flag, Env: f.Env, Form: form(f.typ), Help: f.Help,
			Default: f.write(defaults.FieldByIndex(f.index)), Live: f.live, Inert: f.inert, table: f.table,
		}
		for _, sp := range s.spellings {
			if sp.field == f && sp.alias != nil && sp.key != "" {
				keys[i].Old = append(keys[i].Old, sp.key)
			}
		}
	}
	return keys
}

// Print gives cfg as TOML, each line with where its value came from. Secrets
// are left out; settings that are unset are not shown.
func (s *Schema[T]) Print(cfg T, r *Report) string {
	var b strings.Builder
	root := reflect.ValueOf(&cfg).Elem()
	for _, f := range s.fields {
		_, set := r.Origins[f.Key]
		text := f.write(root.FieldByIndex(f.index))
		if text == "" && !set {
			continue
		}
		if text == "" {
			text = `""`
		}
		fmt.Fprintf(&b, "%-44s # %s\n", f.Key+" = "+text, r.Origins[f.Key])
	}
	return b.String()
}

// write gives v as TOML, or "" when it is unset.
func (f *field) write(v reflect.Value) string {
	if v.IsZero() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.String || v.Kind() == reflect.Slice ||
		v.Kind() == reflect.Map || v.Type() == amountType || isValue(v.Type())) {
		return ""
	}
	if f.secret == "yes" {
		return `"(hidden)"`
	}
	return write(v, f.secret)
}

func write(v reflect.Value, secret string) string {
	switch {
	case isValue(v.Type()):
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		return p.Interface().(Value).String()
	case v.Kind() == reflect.Pointer:
		return write(v.Elem(), secret)
	case v.Type() == durationType:
		return strconv.Quote(formatDuration(v.Interface().(time.Duration)))
	case v.Type() == bytesType || v.Type() == amountType || v.Type() == rateType:
		return strconv.Quote(fmt.Sprint(v.Interface()))
	case v.Kind() == reflect.String && secret == "url":
		return strconv.Quote(RedactURL(v.String()))
	case v.Kind() == reflect.String:
		return strconv.Quote(v.String())
	case v.Kind() == reflect.Slice:
		return writeList(v, secret)
	}
	return fmt.Sprint(v.Interface())
}

func writeList(v reflect.Value, secret string) string {
	parts := make([]string, v.Len())
	for i := range parts {
		parts[i] = write(v.Index(i), secret)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// RedactURL cuts user info and query, where credentials live, out of a URL for
// people to read. What does not parse as a URL is hidden whole.
func RedactURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "(hidden)"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
