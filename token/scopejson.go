package token

import (
	"errors"
	"fmt"
)

// scopeReader collects the members of a scope in either dialect.
type scopeReader struct {
	scope         Scope
	suffix, later bool // dialects seen
}

var errMixed = errors.New("put/get and publish/subscribe are mixed")

// take reads m if it belongs to a scope.
func (r *scopeReader) take(m member) (taken bool, err error) {
	switch m.name {
	case "root":
		var root string
		root, err = m.text()
		r.scope.Root = Clean(root)
	case "put":
		r.suffix = true
		r.scope.Publish, err = suffixes(m)
	case "get":
		r.suffix = true
		r.scope.Subscribe, err = suffixes(m)
	case "publish":
		r.later = true
		r.scope.Publish, err = patterns(m)
	case "subscribe":
		r.later = true
		r.scope.Subscribe, err = patterns(m)
	default:
		return false, nil
	}
	if err == nil && r.suffix && r.later {
		err = errMixed
	}
	return true, err
}

func suffixes(m member) (Patterns, error) {
	list, err := m.textOrList()
	if err != nil {
		return nil, err
	}
	ps, err := ParseSuffixes(list)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.name, err)
	}
	return ps, nil
}

func patterns(m member) (Patterns, error) {
	list, err := m.list()
	if err != nil {
		return nil, err
	}
	ps, err := ParsePatterns(list)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.name, err)
	}
	return ps, nil
}

// put writes the scope into a JSON object, in the older dialect where that can
// spell it, so that relays of both generations read it.
func (s Scope) put(object map[string]any) {
	if s.Root != "" {
		object["root"] = s.Root
	}
	publish, ok1 := s.Publish.prefixes()
	subscribe, ok2 := s.Subscribe.prefixes()
	if ok1 && ok2 {
		putList(object, "put", publish)
		putList(object, "get", subscribe)
		return
	}
	putList(object, "publish", s.Publish.Strings())
	putList(object, "subscribe", s.Subscribe.Strings())
}

func putList(object map[string]any, name string, list []string) {
	if len(list) > 0 {
		object[name] = list
	}
}

// prefixes returns the set as put/get suffixes, if they can spell it.
func (ps Patterns) prefixes() (out []string, ok bool) {
	for _, p := range ps {
		path, ok := p.prefix()
		if !ok {
			return nil, false
		}
		out = append(out, path)
	}
	return out, true
}
