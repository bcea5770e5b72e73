package peers

import (
	"strings"
	"testing"
)

func TestRedirected(t *testing.T) {
	from := Entry{Key: "https://a.example/", Query: "v=1", Cost: Fixed(4), Egress: Fixed(2), Token: "s3cret", ID: 9}
	for _, tc := range []struct {
		uri    string
		policy RedirectPolicy
		want   string // as dialled; "" = not allowed
	}{
		{"https://a.example:4443/", SameHost, "https://a.example:4443/?jwt=s3cret"},
		{"moqt://A.example/x?jwt=new", SameHost, "moqt://a.example/x?jwt=new"},
		{"https://b.example/", SameHost, ""},
		{"https://b.example/", Follow, "https://b.example/"},
		{"https://b.example/?cost=0&jwt=new", Follow, "https://b.example/?jwt=new"},
		{"https://a.example/", Ignore, ""},
		{"ws://a.example/", Follow, ""},
		{"http://a.example/", SameHost, ""},
		{"ftp://a.example/?jwt=s3cret", Follow, ""},
		{"", Follow, ""},
	} {
		got, err := Redirected(from, tc.uri, tc.policy)
		switch {
		case tc.want == "" && err == nil, err != nil && strings.Contains(err.Error(), "s3cret"):
			t.Errorf("%s: %s, %v, want an error", tc.uri, got, err)
		case tc.want == "":
		case err != nil || got.DialURL("") != tc.want || got.Cost != from.Cost || got.Egress != from.Egress || got.ID != 0:
			t.Errorf("%s: %s, %v, want %s", tc.uri, got.DialURL(""), err, tc.want)
		}
	}
}
