package topology

import (
	"net/url"
	"strings"
	"testing"
)

func TestParseQuery(t *testing.T) {
	for raw, want := range map[string]Query{
		"":                              {Limit: DefaultLimit},
		"format=json":                   {Limit: DefaultLimit},
		"prefix=/a//b/&why=a/b&limit=1": {Prefix: "a/b", Why: "a/b", Limit: 1},
		"why=&prefix=":                  {Limit: DefaultLimit},
		"limit=10000":                   {Limit: 10_000},
	} {
		values, err := url.ParseQuery(raw)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseQuery(values)
		if err != nil || got != want {
			t.Errorf("ParseQuery(%q) = %+v, %v, want %+v", raw, got, err, want)
		}
		if again, err := ParseQuery(got.Values()); err != nil || again != got {
			t.Errorf("%+v as a query is read as %+v, %v", got, again, err)
		}
	}
}

func TestParseQueryRefuses(t *testing.T) {
	for raw, want := range map[string]string{
		"limit=0":                         "invalid limit: want 1 to 10000",
		"limit=10001":                     "invalid limit: want 1 to 10000",
		"limit=many":                      "invalid limit: want 1 to 10000",
		"prefix=a&prefix=b":               `"prefix" is given 2 times`,
		"nonsense%0a=1":                   `unknown field: "nonsense\n"`,
		"why=" + strings.Repeat("a/", 40): "invalid why: ",
	} {
		values, err := url.ParseQuery(raw)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseQuery(values); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("ParseQuery(%q): %v, want %q", raw, err, want)
		}
	}
}
