package peers

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseList(t *testing.T) {
	const own = Key("https://me.example/")
	for _, tc := range []struct {
		in   string
		want []Entry
	}{
		{in: `[]`, want: []Entry{}},
		{in: ` ["https://a.example/?cost=10", "b.example:4443"] `, want: []Entry{
			{Key: "https://a.example/", Cost: Fixed(10)}, {Key: "https://b.example:4443/"},
		}},
		{in: `["https://a.example", "HTTPS://A.example:443/"]`, want: []Entry{{Key: "https://a.example/"}}},
		{in: `["https://me.example", "https://a.example", "me.example:443?cost=3"]`, want: []Entry{{Key: "https://a.example/"}}},
		{in: `[{"url": "https://a.example", "cost": 0, "egress": 5, "token": "t", "id": 9}]`, want: []Entry{
			{Key: "https://a.example/", Cost: Fixed(0), Egress: Fixed(5), Token: "t", ID: 9},
		}},
	} {
		got, err := ParseList([]byte(tc.in), own)
		if diff := cmp.Diff(tc.want, got, cmp.Transformer("open", opened)); err != nil || diff != "" {
			t.Errorf("ParseList(%s): %v\n%s", tc.in, err, diff)
		}
	}
}

// opened is an entry without its String method, which would hide a difference.
func opened(e Entry) any { type bare Entry; return bare(e) }

func TestParseListErrors(t *testing.T) {
	for in, want := range map[string]string{
		``:                                    "not a JSON array of peers",
		`null`:                                "not a JSON array of peers",
		`{"peers": []}`:                       "not a JSON array of peers",
		`["a.example"`:                        "not a JSON array of peers",
		`["a.example", 3]`:                    "invalid peer at index 1: want a URL or an object",
		`["a.example", null]`:                 "invalid peer at index 1: want a URL or an object",
		`["a.example", ""]`:                   "invalid peer at index 1: empty",
		`[{}]`:                                "invalid peer at index 0: empty",
		`[{"url": 3}]`:                        "invalid peer at index 0: url: want a string",
		`[{"url": "a", "token": ["s3cret"]}]`: "invalid peer at index 0: token: want a string",
		`[{"url": "a", "cost": -1}]`:          "invalid peer at index 0: cost: want a whole number",
		`[{"url": "a", "cost": null}]`:        "invalid peer at index 0: cost: want a whole number",
		`[{"url": "a", "prize": 1}]`:          `invalid peer at index 0: unknown field "prize"`,
		`["https://a.example?jwt=s3cret", "https://a.example?jwt=s3cret2"]`: "invalid peer at index 1: https://a.example/ is at index 0 with different settings",
		`["https://a.example?cost=1", "b", "https://a.example"]`:            "index 2: https://a.example/ is at index 0",
	} {
		got, err := ParseList([]byte(in), "")
		if err == nil || got != nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("ParseList(%s) = %v, %v, want %q", in, got, err, want)
		}
	}
}

func TestParseListTellsEveryError(t *testing.T) {
	_, err := ParseList([]byte(`["ftp://a", "b", "c?cost=x", {"url": "d", "id": 0}]`), "")
	for _, want := range []string{"index 0", "index 2", "index 3"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not tell of %s", err, want)
		}
	}
}

func TestErrNotList(t *testing.T) {
	if _, err := ParseList([]byte("<html>"), ""); !errors.Is(err, ErrNotList) {
		t.Errorf("a page: %v, want ErrNotList", err)
	}
	if _, err := ParseList([]byte("[1]"), ""); errors.Is(err, ErrNotList) {
		t.Error("an array of numbers is called no array")
	}
}

func TestListIsBounded(t *testing.T) {
	list := func(n int) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ",\"p%d.example\"", i)
		}
		return []byte("[" + b.String()[1:] + "]")
	}
	if got, err := ParseList(list(MaxPeers), ""); err != nil || len(got) != MaxPeers {
		t.Errorf("%d peers: %d, %v", MaxPeers, len(got), err)
	}
	if _, err := ParseList(list(MaxPeers+1), ""); err == nil {
		t.Errorf("%d peers are taken", MaxPeers+1)
	}
}

func FuzzParseList(f *testing.F) {
	for _, s := range []string{`["https://a.example/?cost=10&jwt=x", "b:4443"]`, `[{"url": "a", "cost": 1, "egress": 2, "token": "t", "id": 3}]`, `[[], {}]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		list, err := ParseList(doc, "https://a.example/")
		if err != nil {
			return
		}
		seen := make(map[Key]bool)
		for _, e := range list {
			again, bare, err := Parse(e.DialURL(""))
			if seen[e.Key] || err != nil || bare || again.Key != e.Key || e.Egress.Auto || e.Cost.Auto && e.Cost.Set {
				t.Errorf("ParseList(%q) has %+v: %v", doc, opened(e), err)
			}
			seen[e.Key] = true
		}
	})
}
