package wire_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/moqmesh/moqmesh/moq/wire"
)

func TestCleanPath(t *testing.T) {
	deepest := strings.Repeat("a/", 31) + "a"
	tests := []struct {
		in, want string
		err      error
	}{
		{"", "", nil},
		{"/", "", nil},
		{"////", "", nil},
		{"a", "a", nil},
		{"/a/", "a", nil},
		{"a//b///c", "a/b/c", nil},
		{"/room//alice/", "room/alice", nil},
		{".hidden/a b", ".hidden/a b", nil},
		{deepest, deepest, nil},
		{"//" + deepest + "//", deepest, nil},
		{deepest + "/a", "", wire.ErrTooMany},
	}
	for _, tt := range tests {
		if got, err := wire.CleanPath(tt.in); got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("CleanPath(%q) = %q, %v, want %q, %v", tt.in, got, err, tt.want, tt.err)
		}
	}
}

func TestTrimPathPrefix(t *testing.T) {
	tests := []struct {
		path, prefix, suffix string
		ok                   bool
	}{
		{"room/a", "", "room/a", true},
		{"", "", "", true},
		{"room/a", "room", "a", true},
		{"room/a", "room/a", "", true},
		{"rooms/a", "room", "", false},
		{"room", "room/a", "", false},
		{"", "room", "", false},
		{"a/room", "room", "", false},
	}
	for _, tt := range tests {
		suffix, ok := wire.TrimPathPrefix(tt.path, tt.prefix)
		if suffix != tt.suffix || ok != tt.ok {
			t.Errorf("TrimPathPrefix(%q, %q) = %q, %t, want %q, %t", tt.path, tt.prefix, suffix, ok, tt.suffix, tt.ok)
		}
		if got := wire.HasPathPrefix(tt.path, tt.prefix); got != tt.ok {
			t.Errorf("HasPathPrefix(%q, %q) = %t, want %t", tt.path, tt.prefix, got, tt.ok)
		}
		if ok && wire.JoinPath(tt.prefix, suffix) != tt.path {
			t.Errorf("JoinPath(%q, %q) = %q, want %q", tt.prefix, suffix, wire.JoinPath(tt.prefix, suffix), tt.path)
		}
	}
}

func TestCleanPathProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringMatching(`[/ab]{0,40}`).Draw(t, "path")
		got, err := wire.CleanPath(in)
		if err != nil {
			return
		}
		if again, err := wire.CleanPath(got); again != got || err != nil {
			t.Fatalf("CleanPath(%q) = %q, and cleaned again %q, %v", in, got, again, err)
		}
		if want := strings.Join(strings.FieldsFunc(in, func(c rune) bool { return c == '/' }), "/"); got != want {
			t.Fatalf("CleanPath(%q) = %q, want %q", in, got, want)
		}
	})
}
