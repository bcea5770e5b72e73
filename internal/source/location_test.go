package source

import (
	"strings"
	"testing"
)

func TestParseLocations(t *testing.T) {
	for _, tc := range []struct {
		in    []string
		files string
		url   string
		err   string
	}{
		{in: []string{"/etc/peers.json"}, files: "/etc/peers.json"},
		{in: []string{"file:///etc/peers.json"}, files: "/etc/peers.json"},
		{in: []string{"file://localhost/etc/peers.json"}, files: "/etc/peers.json"},
		{in: []string{"/a/cert", "/a/key"}, files: "/a/cert /a/key"},
		{in: []string{"https://api.test/v1?node=a#x"}, url: "https://api.test/v1?node=a"},
		{in: []string{"HTTP://api.test"}, url: "http://api.test"},
		{in: nil, err: "without a location"},
		{in: []string{""}, err: "empty"},
		{in: []string{"file://other.test/etc/peers.json"}, err: "not a local file"},
		{in: []string{"file://"}, err: "no path"},
		{in: []string{"ftp://a.test/x"}, err: `scheme "ftp"`},
		{in: []string{"https://"}, err: "not a URL with a host"},
		{in: []string{"https://a.test:port/?jwt=s3cret"}, err: "not a URL with a host"},
		{in: []string{"https://a.test", "/etc/x"}, err: "together"},
		{in: []string{"https://a.test", "https://b.test"}, err: "together"},
	} {
		at, err := parseLocations(tc.in)
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("parseLocations(%q) = %v, want %q", tc.in, err, tc.err)
			}
			continue
		}
		if got := strings.Join(at.files, " "); err != nil || got != tc.files || at.url != tc.url {
			t.Errorf("parseLocations(%q) = %q, %q, %v, want %q, %q", tc.in, got, at.url, err, tc.files, tc.url)
		}
	}
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"/etc/peers.json": "/etc/peers.json",
		"https://user:pw@a.test:8443/x?jwt=s3cret#f": "https://a.test:8443/x",
		"https://a.test:bad/?jwt=s3cret":             "https://",
	} {
		if got := Redact(in); got != want {
			t.Errorf("Redact(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestNewNeedsAParser(t *testing.T) {
	if _, err := New(Config[int]{Locations: []string{"x"}}); err == nil {
		t.Error("New without a parser succeeded")
	}
}
