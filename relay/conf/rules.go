package conf

import (
	"fmt"
	"strconv"
	"strings"
)

// Scopes narrow client certificates: name of the certificate (first DNS name,
// else common name, else SHA-256 in hex) to the patterns, from the root, that
// it may publish and subscribe to.
type Scopes map[string][]string

// SetConfig takes a table of names with a pattern or a list of patterns.
func (s *Scopes) SetConfig(v any) error {
	t, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("want %s", s.Form())
	}
	*s = Scopes{}
	for name, v := range t {
		var rules Rules
		if err := rules.SetConfig(v); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		(*s)[name] = rules
	}
	return nil
}

// Form says what is accepted.
func (s *Scopes) Form() string { return `a table such as {"edge1.example" = ["live/**"]}` }

// String gives the value as TOML.
func (s *Scopes) String() string {
	parts := make([]string, 0, len(*s))
	for _, name := range sortedNames(*s) {
		rules := Rules((*s)[name])
		parts = append(parts, fmt.Sprintf("%q = %s", name, rules.String()))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// Rules is a list of patterns in which an empty entry counts: it is the root,
// and in the released spelling of public rules it opens everything.
type Rules []string

// SetConfig takes one pattern or a list of them.
func (r *Rules) SetConfig(v any) error {
	elems, ok := v.([]any)
	if !ok {
		elems = []any{v}
	}
	*r = make(Rules, len(elems))
	for i, e := range elems {
		if err := setText(&(*r)[i], e); err != nil {
			return fmt.Errorf("entry %d: %w", i+1, err)
		}
	}
	return nil
}

// Form says what is accepted.
func (r *Rules) Form() string { return "a pattern or a list of patterns" }

// String gives the list as TOML.
func (r *Rules) String() string {
	parts := make([]string, len(*r))
	for i, p := range *r {
		parts[i] = strconv.Quote(p)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
