package token

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustPatterns(t testing.TB, texts ...string) Patterns {
	t.Helper()
	ps, err := ParsePatterns(texts)
	if err != nil {
		t.Fatalf("ParsePatterns(%q): %v", texts, err)
	}
	return ps
}

func TestParsePattern(t *testing.T) {
	for _, good := range []string{"", "a", "a/b", "*", "a/*/b", "a*", "*a", "a*b/c", "**", "a/**", "**/a", "a/**/b", strings.Repeat("a/", 31) + "a"} {
		p, err := ParsePattern(good)
		if err != nil || p.String() != good {
			t.Errorf("ParsePattern(%q) = %q, %v, want it back", good, p, err)
		}
	}
	for _, bad := range []string{"/", "/a", "a/", "a//b", "**/**", "a/**/b/**", "***", "a**", "**a", "a*b*", strings.Repeat("a/", 32) + "a"} {
		if p, err := ParsePattern(bad); err == nil {
			t.Errorf("ParsePattern(%q) = %q, want an error", bad, p)
		}
	}
}

func TestPatternMatch(t *testing.T) {
	tests := []struct {
		pattern string
		yes, no []string
	}{
		{"", []string{"", "/"}, []string{"a"}},
		{"foo", []string{"foo", "/foo/"}, []string{"", "foo/bar", "foobar", "fo"}},
		{"foo/**", []string{"foo", "foo/bar", "foo/bar/baz", "foo//bar"}, []string{"", "foobar", "bar/foo"}},
		{"**", []string{"", "a", "a/b"}, nil},
		{"*", []string{"a", "*"}, []string{"", "a/b"}},
		{"*/x", []string{"a/x"}, []string{"x", "a/b/x", "a"}},
		{"foo*", []string{"foo", "foobar"}, []string{"fo", "foo/bar"}},
		{"a*a", []string{"aa", "aba"}, []string{"a", "ab"}},
		{"**/cam", []string{"cam", "a/cam", "a/b/cam"}, []string{"", "camera", "cam/a"}},
		{"a/**/b", []string{"a/b", "a/x/b", "a/b/b"}, []string{"a", "b", "a/b/c", "x/a/b"}},
		{"a/**/b/c", []string{"a/b/c", "a/b/b/c"}, []string{"a/c", "a/b"}},
		{"a/b/**/b/c", nil, []string{"a/b/c"}},
	}
	for _, tt := range tests {
		p := mustPatterns(t, tt.pattern)[0]
		for _, path := range tt.yes {
			if !p.Match(path) {
				t.Errorf("%q does not match %q", p, path)
			}
		}
		for _, path := range tt.no {
			if p.Match(path) {
				t.Errorf("%q matches %q", p, path)
			}
		}
	}
}

func TestMatchDoesNotAllocate(t *testing.T) {
	ps := mustPatterns(t, "a/**/b", "anon/**", "*/x*y/**")
	if n := testing.AllocsPerRun(100, func() { ps.Match("rooms/12/xy/cam/hd") }); n != 0 {
		t.Errorf("Match allocates %v times", n)
	}
}

// What is left of a pattern at a dialled path, as the newer Rust auth server answers it.
func TestPatternsAt(t *testing.T) {
	tests := []struct {
		pattern, path string
		want          []string // nil = unrelated
	}{
		{"anon/**", "/", []string{"anon/**"}},
		{"anon/**", "/anon", []string{"**"}},
		{"anon/**", "/anon/a", []string{"**"}},
		{"anon/**", "/anonymous", nil},
		{"anon/**", "/rooms/1", nil},
		{"**/cam", "/", []string{"**/cam"}},
		{"**/cam", "/rooms/1", []string{"**/cam"}},
		{"**/cam", "/rooms/cam", []string{"", "**/cam"}},
		{"*/lobby/**", "/x", []string{"lobby/**"}},
		{"*/lobby/**", "/x/lobby/q", []string{"**"}},
		{"*/lobby/**", "/rooms/1", nil},
		{"a/**/b", "/a/b/b", []string{"", "**/b"}},
		{"a/**/b/c", "/a/b/b", []string{"**/b/c", "c"}},
		{"a/*/b", "/a/x/b", []string{""}},
		{"a/*/b", "/a/x/b/c", nil},
		{"foo", "/foo/x", nil},
	}
	for _, tt := range tests {
		got := mustPatterns(t, tt.pattern).At(tt.path)
		if diff := cmp.Diff(tt.want, list(got)); diff != "" {
			t.Errorf("%q at %q (-want +got):\n%s", tt.pattern, tt.path, diff)
		}
	}
}

func list(ps Patterns) []string {
	if ps == nil {
		return nil
	}
	return ps.Strings()
}

func TestPatternsPrefixQuestions(t *testing.T) {
	tests := []struct {
		pattern, prefix  string
		overlaps, covers bool
	}{
		{"a/**", "", true, false},
		{"a/**", "a", true, true},
		{"a/**", "a/b/c", true, true},
		{"a/**", "ab", false, false},
		{"a/b", "a", true, false},
		{"a/b", "a/b", true, false},
		{"a/b", "a/b/c", false, false},
		{"**/cam", "rooms", true, false},
		{"*/**", "", true, false},
		{"*/**", "x", true, true},
	}
	for _, tt := range tests {
		ps := mustPatterns(t, tt.pattern)
		if got := ps.Overlaps(tt.prefix); got != tt.overlaps {
			t.Errorf("%q.Overlaps(%q) = %v", tt.pattern, tt.prefix, got)
		}
		if got := ps.CoversPrefix(tt.prefix); got != tt.covers {
			t.Errorf("%q.CoversPrefix(%q) = %v", tt.pattern, tt.prefix, got)
		}
	}
}

func TestPatternsCover(t *testing.T) {
	tests := []struct {
		outer, inner string
		want         bool
	}{
		{"**", "a/*/b*c/**/d", true},
		{"a/**", "a", true},
		{"a/**", "a/**", true},
		{"a/**", "a/*/x", true},
		{"a/**", "ab/**", false},
		{"a/**", "**", false},
		{"a/*", "a/b*", true},
		{"a/*", "a/**", false},
		{"a*", "ab*c", true},
		{"a*", "*", false},
		{"ab*", "a*", false},
		{"*", "**", false},
		{"**/x", "a/**/x", true},
		{"**/x", "a/**", false},
		{"", "", true},
		{"", "a", false},
	}
	for _, tt := range tests {
		if got := mustPatterns(t, tt.outer).Covers(mustPatterns(t, tt.inner)); got != tt.want {
			t.Errorf("%q covers %q = %v, want %v", tt.outer, tt.inner, got, tt.want)
		}
	}
}

func TestPatternsUnder(t *testing.T) {
	got := mustPatterns(t, "", "a/*", "**").Under("/x/y/")
	if diff := cmp.Diff([]string{"x/y", "x/y/a/*", "x/y/**"}, got.Strings()); diff != "" {
		t.Errorf("Under (-want +got):\n%s", diff)
	}
	if got := mustPatterns(t, "**").Under("x*"); got != nil {
		t.Errorf("Under a root with a star = %v, want nothing", got)
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{"": "", "/": "", "a": "a", "/a/b/": "a/b", "a//b": "a/b", "///": "", "a b": "a b"} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

// FuzzPattern holds the three questions about a pattern to one another.
func FuzzPattern(f *testing.F) {
	f.Add("a/**/b", "a/x", "b")
	f.Add("**/cam", "rooms/cam", "")
	f.Add("a*a/*", "aa", "x/y")
	f.Fuzz(func(t *testing.T, text, prefix, name string) {
		p, err := ParsePattern(text)
		if err != nil {
			return
		}
		again, err := ParsePattern(p.String())
		if err != nil || again != p {
			t.Fatalf("ParsePattern(%q) does not come back: %q, %v", text, again, err)
		}
		ps := Patterns{p}
		whole := p.Match(Join(prefix, name))
		if at := ps.At(prefix).Match(name); at != whole {
			t.Errorf("%q matches %q at %q = %v, matches the whole = %v", p, name, prefix, at, whole)
		}
		if whole && !ps.Overlaps(prefix) {
			t.Errorf("%q names %q yet does not overlap %q", p, Join(prefix, name), prefix)
		}
		if !whole && ps.CoversPrefix(prefix) {
			t.Errorf("%q covers %q yet does not name %q", p, prefix, Join(prefix, name))
		}
		if below, err := Below(prefix); err == nil && ps.Covers(Patterns{below}) && !whole {
			t.Errorf("%q covers %q yet does not name %q", p, below, Join(prefix, name))
		}
		if !ps.Covers(ps) {
			t.Errorf("%q does not cover itself", p)
		}
	})
}
