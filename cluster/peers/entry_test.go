package peers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq/wire"
)

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want Entry
		bare bool
	}{
		{in: "https://a.example/", want: Entry{Key: "https://a.example/"}},
		{in: "https://a.example", want: Entry{Key: "https://a.example/"}},
		{in: "HTTPS://A.Example:443/", want: Entry{Key: "https://a.example/"}},
		{in: "https://a.example:4443/", want: Entry{Key: "https://a.example:4443/"}},
		{in: "https://a.example:/", want: Entry{Key: "https://a.example/"}},
		{in: "https://user:pw@a.example/x#f", want: Entry{Key: "https://a.example/x"}},
		{in: "https://a.example//x///y/", want: Entry{Key: "https://a.example/x/y"}},
		{in: "https://a.example/R%C3%A4um", want: Entry{Key: "https://a.example/R%C3%A4um"}},
		{in: "moqt://[2001:DB8::1]:443/", want: Entry{Key: "moqt://[2001:db8::1]/"}},
		{in: "moql://10.0.0.1:4443", want: Entry{Key: "moql://10.0.0.1:4443/"}},
		{in: "ws://a.example:80/x", want: Entry{Key: "ws://a.example/x"}},
		{in: "wss://a.example:80/", want: Entry{Key: "wss://a.example:80/"}},
		{in: "http://a.example:80/", want: Entry{Key: "http://a.example:80/"}},
		{in: "a.example", want: Entry{Key: "https://a.example/"}, bare: true},
		{in: "a.example:4443", want: Entry{Key: "https://a.example:4443/"}, bare: true},
		{in: "[::1]:4443?cost=3", want: Entry{Key: "https://[::1]:4443/", Cost: Fixed(3)}, bare: true},
		{in: "https://a.example/?cost=10", want: Entry{Key: "https://a.example/", Cost: Fixed(10)}},
		{in: "https://a.example/?cost=0", want: Entry{Key: "https://a.example/", Cost: Fixed(0)}},
		{in: "https://a.example/?cost=", want: Entry{Key: "https://a.example/"}},
		{in: "https://a.example/?cost=auto", want: Entry{Key: "https://a.example/", Cost: Auto}},
		{in: "https://a.example/?cost=18446744073709551615", want: Entry{Key: "https://a.example/", Cost: Fixed(wire.MaxVarint)}},
		{in: "https://a.example/?jwt=abc", want: Entry{Key: "https://a.example/", Token: "abc"}},
		{in: "https://a.example/?jwt=", want: Entry{Key: "https://a.example/"}},
		{in: "https://a.example/?b=2&jwt=a%2Bb&cost=1&a=%20", want: Entry{Key: "https://a.example/", Query: "b=2&a=%20", Token: "a+b", Cost: Fixed(1)}},
		{in: "https://a.example/?costs=1&xjwt=2", want: Entry{Key: "https://a.example/", Query: "costs=1&xjwt=2"}},
	} {
		got, bare, err := Parse(tc.in)
		if err != nil || got != tc.want || bare != tc.bare {
			t.Errorf("Parse(%s) = %s, bare %v, %v\n%s", tc.in, got, bare, err, cmp.Diff(tc.want, got))
		}
	}
}

func TestParseErrors(t *testing.T) {
	for in, want := range map[string]string{
		"":                                        "empty",
		"https://":                                "not a URL with a host",
		"https:///x?jwt=s3cret":                   "not a URL with a host",
		"https://a b/?jwt=s3cret":                 "not a URL with a host",
		"a.example:port?jwt=s3cret":               "not a URL with a host",
		"s3cret@":                                 "not a URL with a host",
		"ftp://a.example/?jwt=s3cret":             "scheme is none of https, moqt, moql, wss, ws, http",
		"https://a.example:0/?jwt=s3cret":         "port is not from 1 to 65535",
		"https://a.example:70000/?jwt=s3cret":     "port is not from 1 to 65535",
		"https://a.example/?jwt=s3cret&jwt=x":     "jwt= given twice",
		"https://a.example/?jwt=s3cret%":          "jwt= is not encoded",
		"https://a.example/?cost=1&cost=2":        "cost= given twice",
		"https://a.example/?jwt=s3cret&cost=-1":   `invalid cost "-1" on cluster peer URL`,
		"https://a.example/?cost=ten":             `invalid cost "ten" on cluster peer URL`,
		"https://a.example/?cost=1.5":             `invalid cost "1.5" on cluster peer URL`,
		"https://a.example/?cost=" + ones(40):     `invalid cost "` + ones(32) + `" on cluster peer URL`,
		"https://a.example/?jwt=" + ones(longest): "URL longer than 2048 bytes",
		"a.example/" + strings.Repeat("ä", 400):   "URL longer than 2048 bytes",
	} {
		_, _, err := Parse(in)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("Parse(%s) = %v, want %q", in, err, want)
		}
	}
}

func ones(n int) string { return strings.Repeat("1", n) }

// The token of the URL wins, another one fills the gap, and nothing else changes on the way.
func TestDialURL(t *testing.T) {
	for _, tc := range []struct{ in, fallback, want string }{
		{"https://a.example/?cost=4", "", "https://a.example/"},
		{"https://a.example/", "all", "https://a.example/?jwt=all"},
		{"https://a.example/?jwt=own", "all", "https://a.example/?jwt=own"},
		{"https://a.example/?jwt=", "all", "https://a.example/?jwt=all"},
		{"https://a.example/x?b=%20&cost=1", "a+b", "https://a.example/x?b=%20&jwt=a%2Bb"},
	} {
		e, _, err := Parse(tc.in)
		if got := e.DialURL(tc.fallback); err != nil || got != tc.want {
			t.Errorf("DialURL of %s = %s, %v, want %s", tc.in, got, err, tc.want)
		}
	}
}

func TestEntriesHideSecrets(t *testing.T) {
	e, _, err := Parse("https://u:s3cret@a.example/?jwt=s3cret&key=s3cret#s3cret")
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		if got := fmt.Sprintf(verb, e) + fmt.Sprintf(verb, &e); strings.Contains(got, "s3cret") {
			t.Errorf("%s shows %s", verb, got)
		}
	}
}

func number(n uint64) *uint64 { return &n }

func TestObject(t *testing.T) {
	for _, tc := range []struct {
		in   Object
		want Entry
		err  string
	}{
		{in: Object{URL: "https://a.example"}, want: Entry{Key: "https://a.example/"}},
		{
			in:   Object{URL: "https://a.example", Cost: number(10), Egress: number(3), Token: "t", ID: number(7)},
			want: Entry{Key: "https://a.example/", Cost: Fixed(10), Egress: Fixed(3), Token: "t", ID: 7},
		},
		{in: Object{URL: "https://a.example?cost=auto", Egress: number(3)}, want: Entry{Key: "https://a.example/", Cost: Auto, Egress: Fixed(3)}},
		{in: Object{URL: "https://a.example?cost=1", Cost: number(1)}, err: "cost is given both"},
		{in: Object{URL: "https://a.example?cost=auto", Cost: number(1)}, err: "cost is given both"},
		{in: Object{URL: "https://a.example?cost=1", Egress: number(1)}, err: "egress stands beside"},
		{in: Object{URL: "https://a.example?jwt=s3cret", Token: "s3cret"}, err: "token is given both"},
		{in: Object{URL: "https://a.example", ID: number(0)}, err: "id is not from 1"},
		{in: Object{URL: "https://a.example", ID: number(1 << 62)}, err: "id is not from 1"},
		{in: Object{}, err: "empty"},
	} {
		got, _, err := tc.in.Entry()
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%+v: %v, want %q", tc.in.URL, err, tc.err)
			}
			continue
		}
		if err != nil || got != tc.want {
			t.Errorf("%+v: %v\n%s", tc.in.URL, err, cmp.Diff(tc.want, got))
		}
	}
}

// Each direction has its price; what the peer is told is the egress, or else our own.
func TestDeclared(t *testing.T) {
	for _, tc := range []struct{ cost, egress, want Price }{
		{},
		{cost: Fixed(10), want: Fixed(10)},
		{cost: Fixed(0), want: Fixed(0)},
		{cost: Fixed(10), egress: Fixed(2), want: Fixed(2)},
		{cost: Auto},
		{cost: Auto, egress: Fixed(2), want: Fixed(2)},
	} {
		if got := (Entry{Cost: tc.cost, Egress: tc.egress}).Declared(); got != tc.want {
			t.Errorf("cost %q, egress %q: declared %q, want %q", tc.cost, tc.egress, got, tc.want)
		}
	}
}

func TestDials(t *testing.T) {
	for _, tc := range []struct {
		own, peer Key
		want      bool
	}{
		{"https://a.example/", "https://b.example/", true},
		{"https://b.example/", "https://a.example/", false},
		{"https://a.example/", "https://a.example/", false},
		{"https://a.example/", "https://a.example:4443/", true},
		{"", "https://a.example/", false},
	} {
		if got := Dials(tc.own, tc.peer); got != tc.want {
			t.Errorf("Dials(%s, %s) = %v", tc.own, tc.peer, got)
		}
	}
}
