package token

import (
	"errors"
	"fmt"
	"strings"
)

// MaxSegments is the most segments a written pattern may have.
const MaxSegments = 32

const anyDepth = "**"

// Pattern names a set of paths, segment by segment:
//
//	lit       that segment
//	*         one segment
//	lit*lit   one segment with that beginning and end; either may be empty
//	**        zero or more segments, once in a pattern
//
// "foo" matches only foo; "foo/**" matches foo and everything below. The zero
// Pattern matches the root alone. Patterns are comparable.
type Pattern struct {
	text string // clean
}

// Everything matches every path.
var Everything = Pattern{text: anyDepth}

// ParsePattern reads a pattern as written in a token or a configuration file.
func ParsePattern(text string) (Pattern, error) {
	if text == "" {
		return Pattern{}, nil
	}
	if strings.Count(text, "/") >= MaxSegments {
		return Pattern{}, fmt.Errorf("pattern has more than %d segments", MaxSegments)
	}
	depths := 0
	for seg := range strings.SplitSeq(text, "/") {
		if err := checkSegment(seg); err != nil {
			return Pattern{}, fmt.Errorf("pattern %q: %w", text, err)
		}
		if seg == anyDepth {
			depths++
		}
	}
	if depths > 1 {
		return Pattern{}, fmt.Errorf("pattern %q: more than one **", text)
	}
	return Pattern{text: text}, nil
}

func checkSegment(seg string) error {
	switch {
	case seg == "":
		return errors.New("empty segment")
	case seg != anyDepth && strings.Count(seg, "*") > 1:
		return fmt.Errorf("more than one * in segment %q", seg)
	}
	return nil
}

// Below returns the pattern of path and everything below it. It is how a
// put/get suffix reads: "foo" is foo/**, "" is **. A path with a "*" is
// refused, since a pattern cannot spell it.
func Below(path string) (Pattern, error) {
	path = Clean(path)
	if strings.Contains(path, "*") {
		return Pattern{}, fmt.Errorf("path %q contains a *", path)
	}
	if strings.Count(path, "/") >= MaxSegments-1 {
		return Pattern{}, fmt.Errorf("path has more than %d segments", MaxSegments-1)
	}
	return Pattern{text: join(path, anyDepth)}, nil
}

// String returns the pattern as ParsePattern reads it.
func (p Pattern) String() string { return p.text }

// Match reports whether the pattern names path.
func (p Pattern) Match(path string) bool { return match(p.text, Clean(path)) }

// match walks both from the left and meets a ** by comparing what is behind it
// with the end of the path. It allocates nothing: it runs for each announcement.
func match(pattern, path string) bool {
	for pattern != "" {
		seg, rest := next(pattern)
		if seg == anyDepth {
			return matchEnd(rest, path)
		}
		if path == "" {
			return false
		}
		var name string
		name, path = next(path)
		if !matchSegment(seg, name) {
			return false
		}
		pattern = rest
	}
	return path == ""
}

// matchEnd reports whether the last segments of path match tail, which has no **.
func matchEnd(tail, path string) bool {
	for extra := segments(path) - segments(tail); extra > 0; extra-- {
		_, path = next(path)
	}
	return match(tail, path)
}

func segments(s string) int {
	if s == "" {
		return 0
	}
	return strings.Count(s, "/") + 1
}

func matchSegment(seg, name string) bool {
	before, after, wild := strings.Cut(seg, "*")
	if !wild {
		return seg == name
	}
	return len(name) >= len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
}

// prefix returns the path p when the pattern is p/**, the form that a put/get
// suffix can spell.
func (p Pattern) prefix() (path string, ok bool) {
	if p == Everything {
		return "", true
	}
	path, ok = strings.CutSuffix(p.text, "/"+anyDepth)
	return path, ok && !strings.Contains(path, "*")
}

// covers reports whether every path that inner names is named by outer too.
// It can say no to unusual pairs that do cover, such as */** and **/*, never
// yes to a pair that does not.
func covers(outer, inner string) bool {
	if outer == "" {
		return inner == ""
	}
	o, outerRest := next(outer)
	if o == anyDepth {
		if covers(outerRest, inner) {
			return true
		}
		if inner == "" {
			return false
		}
		_, innerRest := next(inner)
		return covers(outer, innerRest)
	}
	if inner == "" {
		return false
	}
	i, innerRest := next(inner)
	return i != anyDepth && coversSegment(o, i) && covers(outerRest, innerRest)
}

func coversSegment(outer, inner string) bool {
	innerBefore, innerAfter, wild := strings.Cut(inner, "*")
	if !wild {
		return matchSegment(outer, inner)
	}
	before, after, outerWild := strings.Cut(outer, "*")
	return outerWild && strings.HasPrefix(innerBefore, before) && strings.HasSuffix(innerAfter, after)
}
