package moqt

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// "Within a segment `\/` is a literal slash and `\\` a literal backslash."
func TestPaths(t *testing.T) {
	tests := []struct {
		path string
		ns   TrackNamespace
	}{
		{"", nil},
		{"live/cam", TrackNamespace{"live", "cam"}},
		{`a\/b/c`, TrackNamespace{"a/b", "c"}},
		{`a\\b`, TrackNamespace{`a\b`}},
		{`a\\/b`, TrackNamespace{`a\`, "b"}},
		{"ü/日本", TrackNamespace{"ü", "日本"}},
	}
	for _, tt := range tests {
		if got := SplitPath(tt.path); !slices.Equal(got, tt.ns) {
			t.Errorf("SplitPath(%q) = %q, want %q", tt.path, got, tt.ns)
		}
		if got, err := tt.ns.Path(); got != tt.path || err != nil {
			t.Errorf("%q.Path() = %q, %v, want %q", tt.ns, got, err, tt.path)
		}
	}
	if got := SplitPath(`a\b\`); !slices.Equal(got, TrackNamespace{`a\b\`}) {
		t.Errorf("a backslash before anything else is itself, not %q", got)
	}
}

func TestPathRefused(t *testing.T) {
	for _, tt := range []struct {
		ns   TrackNamespace
		want error
	}{
		{TrackNamespace{"a", "", "b"}, wire.ErrValue},
		{TrackNamespace{""}, wire.ErrValue},
		{TrackNamespace{"a\xff"}, wire.ErrUTF8},
	} {
		if path, err := tt.ns.Path(); !errors.Is(err, tt.want) {
			t.Errorf("%q.Path() = %q, %v, want %v", tt.ns, path, err, tt.want)
		}
	}
}

// Every namespace that has a path is the one its path splits into.
func TestPathRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := TrackNamespace(rapid.SliceOf(rapid.StringMatching(`[a/\\]{1,4}`)).Draw(t, "ns"))
		path, err := ns.Path()
		if err != nil {
			t.Fatal(err)
		}
		if got := SplitPath(path); !slices.Equal(got, ns) {
			t.Fatalf("%q has path %q, which splits into %q", ns, path, got)
		}
	})
}

func TestNamespaceBounds(t *testing.T) {
	full := strings.Repeat("x", MaxFullName)
	many := slices.Repeat(TrackNamespace{"a"}, MaxFields)
	tests := []struct {
		name string
		v    Version
		in   Track
		want error
	}{
		{"nothing", Draft22, Track{}, nil},
		{"most fields", Draft22, Track{many, "t"}, nil},
		{"a field too many", Draft22, Track{append(many[:MaxFields:MaxFields], "a"), "t"}, wire.ErrTooMany},
		{"largest name", Draft22, Track{TrackNamespace{"a"}, full[1:]}, nil},
		{"a byte too many", Draft22, Track{TrackNamespace{"a"}, full}, wire.ErrTooLarge},
		{"largest field", Draft16, Track{TrackNamespace{full}, ""}, nil},
		{"field too large", Draft16, Track{TrackNamespace{"a", full}, ""}, wire.ErrTooLarge},
		{"empty field", Draft16, Track{TrackNamespace{"", "a"}, "t"}, nil},
		{"empty field later", Draft17, Track{TrackNamespace{"", "a"}, "t"}, wire.ErrValue},
		{"not UTF-8", Draft17, Track{TrackNamespace{"\xff"}, "\xfe"}, nil},
	}
	for _, tt := range tests {
		d := Dialect{Version: tt.v}
		kind, body := readWhole(t, Subscribe{Track: tt.in}.Append(nil, d), tt.v)
		m, err := Decode(kind, body, d)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
		if got, ok := m.(Subscribe); ok && (got.Track.Name != tt.in.Name || !slices.Equal(got.Track.Namespace, tt.in.Namespace)) {
			t.Errorf("%s: %q reads as %q", tt.name, tt.in, got.Track)
		}
	}
}
