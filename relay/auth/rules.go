package auth

import (
	"fmt"
	"strings"

	"github.com/moqmesh/moqmesh/token"
)

// rule reads one entry of auth.public: a pattern, or in the older spelling a
// path that stands for itself and everything below.
func rule(text string) (p token.Pattern, older bool, err error) {
	if strings.Contains(text, "*") {
		p, err = token.ParsePattern(text)
		return p, false, err
	}
	p, err = token.Below(text)
	return p, true, err
}

// strictRule reads one entry of auth.public_subscribe or auth.public_publish,
// which have patterns only. One without a wildcard is most likely a path of the
// older spelling that would match nothing but itself.
func strictRule(text string) (token.Pattern, error) {
	if !strings.Contains(text, "*") {
		hint := token.Join(text, "**")
		return token.Pattern{}, fmt.Errorf("%q has no wildcard: write %q for it and everything below", text, hint)
	}
	return token.ParsePattern(text)
}

// publicScope reads all public rules. notes are lines for the operator.
func (c Config) publicScope() (s token.Scope, notes []string, errs []error) {
	for _, text := range c.Public {
		p, older, err := rule(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("auth.public: %w", err))
			continue
		}
		if older {
			notes = append(notes, fmt.Sprintf("auth.public = %q is the older spelling of %q", text, p))
		}
		s.Publish = append(s.Publish, p)
		s.Subscribe = append(s.Subscribe, p)
	}
	strict := func(key string, texts []string, into *token.Patterns) {
		for _, text := range texts {
			p, err := strictRule(text)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", key, err))
				continue
			}
			*into = append(*into, p)
		}
	}
	strict("auth.public_publish", c.PublicPublish, &s.Publish)
	strict("auth.public_subscribe", c.PublicSubscribe, &s.Subscribe)
	return s, notes, errs
}
