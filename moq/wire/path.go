package wire

import (
	"fmt"
	"strings"
)

// MaxSegments is how many segments a path may have (§3).
const MaxSegments = 32

// CleanPath normalises a broadcast path, prefix or suffix as a receiver does:
// slashes at either end are dropped and runs of them collapse. The empty path
// is valid. More than MaxSegments segments are ErrTooMany. A path that is clean
// already is returned as it is.
func CleanPath(s string) (string, error) {
	s = strings.Trim(s, "/")
	if strings.Contains(s, "//") {
		s = collapseSlashes(s)
	}
	if n := strings.Count(s, "/") + 1; n > MaxSegments {
		return "", fmt.Errorf("path of %d segments, limit %d: %w", n, MaxSegments, ErrTooMany)
	}
	return s, nil
}

func collapseSlashes(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := range len(s) {
		if s[i] != '/' || s[i-1] != '/' { // s has no leading slash
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// HasPathPrefix reports whether path is prefix or lies below it, comparing whole
// segments: "room" covers "room/a" but not "rooms". Both are clean. The empty
// prefix covers everything.
func HasPathPrefix(path, prefix string) bool {
	_, ok := TrimPathPrefix(path, prefix)
	return ok
}

// TrimPathPrefix returns what of path lies below prefix, "" for prefix itself,
// and whether prefix covers path at all. Both are clean.
func TrimPathPrefix(path, prefix string) (suffix string, ok bool) {
	if prefix == "" {
		return path, true
	}
	rest, ok := strings.CutPrefix(path, prefix)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return strings.TrimPrefix(rest, "/"), true
}

// JoinPath puts suffix below prefix. Both are clean and either may be empty.
func JoinPath(prefix, suffix string) string {
	switch {
	case prefix == "":
		return suffix
	case suffix == "":
		return prefix
	default:
		return prefix + "/" + suffix
	}
}
