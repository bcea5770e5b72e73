package token

import (
	"fmt"
	"slices"
	"strings"
)

// MaxPatterns is the most patterns one list in a token, key or rule may have.
const MaxPatterns = 256

// Patterns is a set of paths: all that any of its members names. Nil is the
// empty set. Order means nothing. The methods return new sets and keep none of
// their arguments.
type Patterns []Pattern

// ParsePatterns reads a list of patterns and reports the first bad one.
func ParsePatterns(texts []string) (Patterns, error) { return parseList(texts, ParsePattern) }

// ParseSuffixes reads a put/get list: each entry names a path and everything below it.
func ParseSuffixes(texts []string) (Patterns, error) { return parseList(texts, Below) }

func parseList(texts []string, parse func(string) (Pattern, error)) (Patterns, error) {
	if len(texts) > MaxPatterns {
		return nil, fmt.Errorf("more than %d patterns", MaxPatterns)
	}
	var ps Patterns
	for _, text := range texts {
		p, err := parse(text)
		if err != nil {
			return nil, err
		}
		ps = append(ps, p)
	}
	return ps, nil
}

// Strings returns the members as ParsePatterns reads them.
func (ps Patterns) Strings() []string {
	out := make([]string, len(ps))
	for i, p := range ps {
		out[i] = p.text
	}
	return out
}

// String returns the members joined by spaces, for logs.
func (ps Patterns) String() string { return strings.Join(ps.Strings(), " ") }

// Match reports whether the set names path.
func (ps Patterns) Match(path string) bool {
	path = Clean(path)
	return slices.ContainsFunc(ps, func(p Pattern) bool { return match(p.text, path) })
}

// At returns what the set names at and below path, relative to path. Nil means
// nothing: the set and path are unrelated. At("a/b") of a/*/cam is cam.
func (ps Patterns) At(path string) Patterns {
	path = Clean(path)
	var out []string
	for _, p := range ps {
		out = residue(out, p.text, path)
	}
	slices.Sort(out)
	var at Patterns
	for _, text := range slices.Compact(out) {
		at = append(at, Pattern{text: text})
	}
	return at
}

// residue appends what is left of pattern once path is taken off its front.
// A ** may end anywhere in path, so there can be several answers.
func residue(out []string, pattern, path string) []string {
	for path != "" && pattern != "" {
		seg, rest := next(pattern)
		name, below := next(path)
		switch {
		case seg == anyDepth:
			out = residue(out, rest, path) // ** ends here
		case matchSegment(seg, name):
			pattern = rest
		default:
			return out
		}
		path = below
	}
	if path == "" {
		out = append(out, pattern)
	}
	return out
}

// Under returns the set as seen from above root: what was relative to root is
// relative to root's root. It is the inverse of At for a path without "*";
// any other root gives the empty set, since a pattern cannot spell it.
func (ps Patterns) Under(root string) Patterns {
	root = Clean(root)
	if root == "" {
		return slices.Clone(ps)
	}
	if strings.Contains(root, "*") {
		return nil
	}
	var out Patterns
	for _, p := range ps {
		out = append(out, Pattern{text: join(root, p.text)})
	}
	return out
}

// Overlaps reports whether the set names anything at or below prefix.
func (ps Patterns) Overlaps(prefix string) bool {
	prefix = Clean(prefix)
	return slices.ContainsFunc(ps, func(p Pattern) bool { return len(residue(nil, p.text, prefix)) > 0 })
}

// CoversPrefix reports whether the set names prefix and everything below it.
func (ps Patterns) CoversPrefix(prefix string) bool {
	return ps.At(prefix).Covers(Patterns{Everything})
}

// Covers reports whether each member of other lies within one member of ps. It
// may say no where only several members together cover, or to unusual shapes;
// it never says yes to a set that is not covered.
func (ps Patterns) Covers(other Patterns) bool {
	for _, inner := range other {
		if !slices.ContainsFunc(ps, func(p Pattern) bool { return covers(p.text, inner.text) }) {
			return false
		}
	}
	return true
}
