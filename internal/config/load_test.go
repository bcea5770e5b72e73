package config

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sample has a setting of each kind.
type sample struct {
	Name  string        `key:"name" help:"a text"`
	Level sampleLevel   `key:"level" help:"a choice"`
	Once  bool          `key:"once" help:"a switch"`
	Maybe *bool         `key:"maybe" help:"a switch that may be unset"`
	Wait  time.Duration `key:"wait" reload:"live" help:"a duration"`
	Big   uint64        `key:"big" help:"a large number"`
	Small int8          `key:"small" help:"a small number"`
	Ratio float64       `key:"ratio" help:"a fraction"`
	Pass  string        `key:"pass" secret:"yes" help:"a secret"`
	Net   struct {
		Bind HostPort `key:"bind" flag:"bind" help:"an address"`
		IDs  []uint32 `key:"ids" help:"numbers"`
	} `key:"net"`
	Old struct {
		A bool `key:"a" help:"nothing"`
		B bool `key:"b" help:"nothing"`
	} `key:"old" inert:"old things have no effect"`
	Untagged int
}

type sampleLevel string

func (sampleLevel) Choices() []string { return []string{"low", "high"} }

func sampleSchema() *Schema[sample] {
	return New(sample{Wait: time.Second, Level: "low"}, Options{
		Program: "sample", Summary: "sample shows.", Version: "1.2", Prefix: "S_",
		Aliases: []Alias{
			{Old: "title", New: "name"},
			{Old: "twice", New: "once", Convert: func(v any) any { return !v.(bool) }},
			{Old: "network.ids", New: "net.ids"},
			{Old: "network.address", New: "net.bind"},
		},
		Unsupported: []Unsupported{{Key: "gone.a", Note: "use name"}, {Key: "gone.b", Harmless: true}},
	})
}

func load(file string, env map[string]string, args ...string) (sample, *Report, error) {
	if file != "" {
		args = append(args, "f.toml")
	}
	return sampleSchema().Load(Sources{
		Args:     args,
		Env:      func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		ReadFile: func(string) ([]byte, error) { return []byte(file), nil },
	})
}

func TestLoadProblems(t *testing.T) {
	for name, tt := range map[string]struct {
		file string
		env  map[string]string
		args []string
		want string // the whole error
	}{
		"syntax":          {file: "name = \n", want: "f.toml:1:8: unexpected character U+000A at start of value"},
		"twice":           {file: "name = \"a\"\nname = \"b\"", want: "f.toml:2:1: key name is already defined"},
		"table for text":  {file: "[name]\na = 1", want: "f.toml:1:2: name: found a table, want text"},
		"text for table":  {file: "net = \"x\"", want: "f.toml:1:1: net: found \"x\", want a table [net]"},
		"list of tables":  {file: "[[net]]\nbind = \":1\"", want: "f.toml:1:3: net: found a list, want a table [net]"},
		"number for text": {file: "name = 3", want: "f.toml:1:1: name: found 3, want text"},
		"text for switch": {file: "once = \"true\"", want: "f.toml:1:1: once: found \"true\", want true or false"},
		"date":            {file: "name = 2026-01-02", want: "f.toml:1:1: name: found a date or time, want text"},
		"below zero":      {file: "big = -1", want: "f.toml:1:1: big: found -1, want a whole number, 0 or more"},
		"too large":       {file: "small = 128", want: "f.toml:1:1: small: found 128, want a whole number"},
		"fraction":        {file: "big = 1.5", want: "f.toml:1:1: big: found 1.5, want a whole number, 0 or more"},
		"bare duration":   {file: "wait = 5", want: "f.toml:1:1: wait: found 5, want a duration such as \"10s\" or \"500ms\""},
		"choice":          {file: "level = \"mid\"", want: "f.toml:1:1: level: found \"mid\", want one of low, high"},
		"bad element":     {file: "net.ids = [1, \"x\"]", want: "f.toml:1:5: net.ids: found \"x\", want a whole number, 0 or more"},
		"secret":          {file: "pass = [\"hush\"]", want: "f.toml:1:1: pass: found a value that is not shown, want text"},
		"case":            {file: "Name = \"a\"", want: "f.toml:1:1: Name: unknown key; did you mean name?"},
		"quoted path":     {file: "\"net.bind\" = \":1\"", want: "f.toml:1:1: \"net.bind\": unknown key; did you mean net.bind?"},
		"inline table":    {file: "net = {bind = \":1\", idz = 3}", want: "f.toml:1:21: net.idz: unknown key; did you mean net.ids?"},
		"wrong table":     {file: "bind = \":1\"", want: "f.toml:1:1: bind: unknown key; did you mean net.bind?"},
		"far from all":    {file: "zzzzzzzzzz = 1", want: "f.toml:1:1: zzzzzzzzzz: unknown key"},
		"unsupported":     {file: "gone.a = 1\ngone.b = 2", want: "f.toml:1:6: gone.a: not supported by moqmesh: use name"},
		"variables": {env: map[string]string{"S_BIG": "", "S_ONCE": "yes", "S_GONE_A": "1"},
			want: "S_GONE_A: not supported by moqmesh: use name\nS_ONCE: found \"yes\", want true or false\nS_BIG: found \"\", want a whole number, 0 or more"},
		"flags": {args: []string{"--big=x", "--big=y", "-x", "--bindd=:1", "--ratio=q", "--wait"},
			want: "--big: given more than once\n-x: unknown flag\n--bindd: unknown flag; did you mean --bind?\n" +
				"--wait: needs a value: a duration such as \"10s\" or \"500ms\"\n--big: found \"x\", want a whole number, 0 or more\n--ratio: found \"q\", want a number"},
		"two files":         {args: []string{"a.toml", "b.toml"}, want: "command line: one configuration file at most, a.toml is given already"},
		"key of no release": {file: "network.bind = \":1\"", want: "f.toml:1:9: network.bind: unknown key; did you mean net.bind?"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := load(tt.file, tt.env, tt.args...)
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadValues(t *testing.T) {
	got, rep, err := load(`
title = "from an old key"
twice = true
[network]
address = ":1"
ids = 7
`, map[string]string{"S_MAYBE": "false", "S_NET_IDS": "1, 2", "S_BIG": "18446744073709551615"},
		"--wait", "0", "--level=high", "--ratio", "0.5", "--small=-3", "--once=true")
	if err != nil {
		t.Fatal(err)
	}
	no, want := false, sample{
		Name: "from an old key", Level: "high", Once: true, Ratio: 0.5, Small: -3, Big: 1<<64 - 1,
	}
	want.Maybe, want.Net.Bind, want.Net.IDs = &no, ":1", []uint32{1, 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("loaded (-want +got):\n%s", diff)
	}
	for key, place := range map[string]string{
		"name": "f.toml:2:1", "once": "--once", "net.bind": "f.toml:5:1", "net.ids": "S_NET_IDS", "wait": "--wait", "pass": "default",
	} {
		if at := rep.Origins[key].String(); at != place {
			t.Errorf("%s comes from %s, want %s", key, at, place)
		}
	}
}

func TestWarnings(t *testing.T) {
	_, rep, err := load("title = \"a\"\nold.a = true\nold.b = true\ngone.b = 1", map[string]string{"S_TITLE": "b"}, "--twice")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.TrimSpace(`
--twice: released spelling, write --once
S_TITLE: released spelling, write S_NAME
f.toml:1:1: title: released spelling, write name
f.toml:2:5: old.a: old things have no effect
f.toml:4:6: gone.b: has no effect in moqmesh`)
	if diff := cmp.Diff(want, rep.Warnings.Error()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestDoubleDashEndsFlags(t *testing.T) {
	_, rep, err := sampleSchema().Load(Sources{
		Args: []string{"--", "-x.toml"}, Env: os.LookupEnv,
		ReadFile: func(string) ([]byte, error) { return nil, nil },
	})
	if err != nil || rep.File != "-x.toml" {
		t.Errorf("file %q, %v", rep.File, err)
	}
}

func TestChanges(t *testing.T) {
	before, after := sample{}, sample{Wait: 1, Name: "a"}
	after.Old.A = true
	want := []Change{{Key: "name"}, {Key: "wait", Live: true}}
	if diff := cmp.Diff(want, sampleSchema().Changes(before, after)); diff != "" {
		t.Errorf("Changes (-want +got):\n%s", diff)
	}
}

func TestNewRefusesDoubleNames(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("two fields with one flag were accepted")
		}
	}()
	New(struct {
		A string `key:"a" flag:"x"`
		B string `key:"b" flag:"x"`
	}{}, Options{})
}

func TestExit(t *testing.T) {
	for _, tt := range []struct {
		err                 error
		code                int
		onStdout, onStderrr string
	}{
		{&Stop{Output: "help\n"}, 0, "help\n", ""},
		{Problems{{Text: "bad"}}, 1, "", "bad\n"},
		{Problems{{Text: "bad"}, {Text: "worse", Usage: true}}, 2, "", "bad\nworse\n"},
		{errors.New("other"), 1, "", "other\n"},
	} {
		var out, errs strings.Builder
		if code := Exit(tt.err, &out, &errs); code != tt.code || out.String() != tt.onStdout || errs.String() != tt.onStderrr {
			t.Errorf("Exit(%v) = %d, %q, %q; want %d, %q, %q", tt.err, code, &out, &errs, tt.code, tt.onStdout, tt.onStderrr)
		}
	}
}

func TestRedactURL(t *testing.T) {
	for in, want := range map[string]string{
		"https://user:pw@a.example/x?jwt=T#f": "https://a.example/x",
		"keys/root.jwk":                       "keys/root.jwk",
		"https://a b/%zz?jwt=T":               "(hidden)",
	} {
		if got := RedactURL(in); got != want {
			t.Errorf("RedactURL(%q) = %q, want %q", in, got, want)
		}
	}
}

// Whatever a file holds, it is read or refused, with places that exist.
func FuzzLoad(f *testing.F) {
	for _, s := range []string{
		"name = \"a\"\n[net]\nbind = \":1\"", "[[net]]\n", "net = {ids = [1,2]}", "\"a.b\" = 1", "name.x.y = 1", "a = [{b=1},{b=2}]",
		"big = 0xffff", "wait = inf", "''.'' = 1", "[net.ids]\nx=1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, file string) {
		_, rep, err := load("\n"+file, nil)
		problems, _ := err.(Problems)
		if err != nil && problems == nil {
			t.Fatalf("error of another kind: %v", err)
		}
		for _, p := range append(problems, rep.Warnings...) {
			if p.Origin.Line < 1 || p.Origin.Line > strings.Count(file, "\n")+2 {
				t.Errorf("problem without a place: %+v", p)
			}
		}
	})
}
