package token

import (
	"errors"
	"fmt"
	"strings"
)

// Scope is a set of rights below a root: what a token grants, and the ceiling
// of a key. The zero Scope grants nothing.
type Scope struct {
	Root      string   // the patterns are relative to it; "" = the root of all paths; no "*"
	Publish   Patterns // what may be announced
	Subscribe Patterns // what may be read
}

// Empty reports whether the scope grants nothing.
func (s Scope) Empty() bool { return len(s.Publish) == 0 && len(s.Subscribe) == 0 }

// At returns the scope as a session dialling path sees it: rooted at path,
// narrowed where path is deeper than the root, prefixed where it is shallower,
// and empty where the two are unrelated.
func (s Scope) At(path string) Scope {
	return Scope{
		Root:      Clean(path),
		Publish:   s.Publish.Under(s.Root).At(path),
		Subscribe: s.Subscribe.Under(s.Root).At(path),
	}
}

// Covers reports whether inner grants nothing beyond s. See [Patterns.Covers].
func (s Scope) Covers(inner Scope) bool {
	return s.Publish.Under(s.Root).Covers(inner.Publish.Under(inner.Root)) &&
		s.Subscribe.Under(s.Root).Covers(inner.Subscribe.Under(inner.Root))
}

func (s Scope) check() error {
	switch {
	case strings.Contains(s.Root, "*"):
		return fmt.Errorf("root %q contains a *", s.Root)
	case s.Empty():
		return errors.New("neither publish nor subscribe is granted")
	case len(s.Publish) > MaxPatterns || len(s.Subscribe) > MaxPatterns:
		return fmt.Errorf("more than %d patterns", MaxPatterns)
	}
	return nil
}
