package token

import "strings"

// Clean returns path the way sessions spell it: segments joined by single
// slashes, none in front or behind. The root is "".
func Clean(path string) string {
	if !strings.HasPrefix(path, "/") && !strings.HasSuffix(path, "/") && !strings.Contains(path, "//") {
		return path
	}
	var b strings.Builder
	b.Grow(len(path))
	for seg := range strings.SplitSeq(path, "/") {
		if seg == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('/')
		}
		b.WriteString(seg)
	}
	return b.String()
}

// Join returns the clean path of name below root.
func Join(root, name string) string { return join(Clean(root), Clean(name)) }

// join is Join for clean halves; it serves patterns as well.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "/" + b
}

// next splits the first segment off a clean path or pattern, which must not be empty.
func next(s string) (seg, rest string) {
	seg, rest, _ = strings.Cut(s, "/")
	return seg, rest
}
