package config

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"sort"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// document is a parsed TOML file: plain values, and where each key stands.
// Keys are looked up by their exact case, unlike in go-toml's struct decoder.
type document struct {
	name   string
	tree   map[string]any
	places map[string]place // by dotted key
}

type place struct{ line, column int }

func parseDocument(name string, data []byte) (*document, error) {
	d := &document{name: name, places: map[string]place{}}
	if err := toml.Unmarshal(data, &d.tree); err != nil {
		return nil, syntaxProblem(name, err)
	}
	d.locate(data)
	return d, nil
}

// syntaxProblem rewords go-toml's errors, which begin with "toml: ".
func syntaxProblem(name string, err error) Problem {
	p := Problem{Origin: Origin{Source: File, Name: name}, Text: strings.TrimPrefix(err.Error(), "toml: ")}
	var de *toml.DecodeError
	if errors.As(err, &de) {
		p.Origin.Line, p.Origin.Column = de.Position()
	}
	return p
}

// locate walks the syntax tree of data, which is known to parse.
func (d *document) locate(data []byte) {
	var p unstable.Parser
	p.Reset(data)
	var table []string
	for p.NextExpression() {
		switch n := p.Expression(); n.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = d.note(&p, nil, n)
		case unstable.KeyValue:
			d.locateValue(&p, table, n)
		}
	}
}

func (d *document) locateValue(p *unstable.Parser, table []string, n *unstable.Node) {
	at := d.note(p, table, n)
	if n.Value().Kind != unstable.InlineTable {
		return
	}
	for it := n.Value().Children(); it.Next(); {
		d.locateValue(p, at, it.Node())
	}
}

// note records where every part of n's key stands, first mention wins.
func (d *document) note(p *unstable.Parser, table []string, n *unstable.Node) []string {
	path := append([]string(nil), table...)
	for it := n.Key(); it.Next(); {
		part := it.Node()
		path = append(path, string(part.Data))
		start := p.Shape(part.Raw).Start
		if key := dotted(path); d.places[key] == (place{}) {
			d.places[key] = place{start.Line, start.Column}
		}
	}
	return path
}

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// dotted quotes the parts that are no bare keys, so that a quoted "a.b" never
// passes for the key b of the table a.
func dotted(path []string) string {
	parts := make([]string, len(path))
	for i, s := range path {
		if parts[i] = s; !bareKey.MatchString(s) {
			parts[i] = fmt.Sprintf("%q", s)
		}
	}
	return strings.Join(parts, ".")
}

func (d *document) origin(key string) Origin {
	at := d.places[key]
	return Origin{Source: File, Name: d.name, Line: at.line, Column: at.column}
}

// names lists the keys of one table in the order of the file.
func (d *document) names(path []string, table map[string]any) []string {
	names := make([]string, 0, len(table))
	for name := range table {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		a, b := d.places[dotted(append(path, names[i]))], d.places[dotted(append(path, names[j]))]
		if a.line != b.line {
			return a.line < b.line
		}
		return a.column < b.column
	})
	return names
}

// readFile takes the settings of one table and the tables below it.
func (l *loader[T]) readFile(d *document, path []string, table map[string]any) {
	for _, name := range d.names(path, table) {
		l.readKey(d, append(path[:len(path):len(path)], name), table[name])
	}
}

func (l *loader[T]) readKey(d *document, path []string, v any) {
	key := dotted(path)
	at := d.origin(key)
	sub, isMap := v.(map[string]any)
	known, ok := l.schema.byKey[key]
	switch {
	case ok && !(isMap && l.schema.hasBelow(key)):
		l.take(entry{spelling: known, origin: at, value: v})
	case l.unsupported(key, at):
	case l.schema.hasBelow(key) && isMap:
		l.readFile(d, path, sub)
	case l.schema.hasBelow(key):
		l.fail(at, key, fmt.Sprintf("found %s, want a table [%s]", describe(tableList(v)), key))
	case isMap:
		l.fail(at, key, "unknown table"+meant(key, l.schema.tables()))
	default:
		l.fail(at, key, "unknown key"+meant(key, l.schema.keys()))
	}
}

// tableList gives [[name]] the type that describe knows.
func tableList(v any) any {
	if reflect.TypeOf(v).Kind() == reflect.Slice {
		return []any{}
	}
	return v
}

// unsupported reports a key of other programs and says whether it was one.
func (l *loader[T]) unsupported(key string, at Origin) bool {
	u, ok := l.schema.unsupported[key]
	if !ok {
		return false
	}
	text := "not supported by moqmesh"
	if u.Harmless {
		text = "has no effect in moqmesh"
	}
	if u.Note != "" {
		text += ": " + u.Note
	}
	if u.Harmless {
		l.warn(at, key, text)
	} else {
		l.fail(at, key, text)
	}
	return true
}
