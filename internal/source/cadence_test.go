package source

import (
	"net/http"
	"testing"
	"time"
)

func TestFreshness(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	const floor, ceiling = 30 * time.Second, time.Hour
	date := now.Add(-time.Hour).Format(http.TimeFormat) // a server whose clock is slow
	for _, tc := range []struct {
		name   string
		header http.Header
		want   freshness
	}{
		{"plain", http.Header{"Cache-Control": {"max-age=60"}}, freshness{maxAge: time.Minute}},
		{"quoted, mixed case, second line", http.Header{"Cache-Control": {"public", `Max-Age = "60"`}}, freshness{maxAge: time.Minute}},
		{"first of two", http.Header{"Cache-Control": {"max-age=60, max-age=90"}}, freshness{maxAge: time.Minute}},
		{"shared caches only", http.Header{"Cache-Control": {"s-maxage=60"}}, freshness{odd: "absent"}},
		{"absent", http.Header{}, freshness{odd: "absent"}},
		{"zero", http.Header{"Cache-Control": {"max-age=0"}}, freshness{odd: "shorter than the time between two checks"}},
		{"short", http.Header{"Cache-Control": {"max-age=29"}}, freshness{odd: "shorter than the time between two checks"}},
		{"floor", http.Header{"Cache-Control": {"max-age=30"}}, freshness{maxAge: floor}},
		{"unreadable", http.Header{"Cache-Control": {"max-age=soon"}}, freshness{odd: "unreadable"}},
		{"empty", http.Header{"Cache-Control": {"max-age"}}, freshness{odd: "unreadable"}},
		{"negative", http.Header{"Cache-Control": {"max-age=-60"}}, freshness{odd: "unreadable"}},
		{"ceiling", http.Header{"Cache-Control": {"max-age=3600"}}, freshness{maxAge: ceiling}},
		{"a year", http.Header{"Cache-Control": {"max-age=31536000"}}, freshness{maxAge: ceiling, odd: "longer than the ceiling"}},
		{"overflow", http.Header{"Cache-Control": {"max-age=99999999999999999999"}}, freshness{maxAge: ceiling, odd: "longer than the ceiling"}},
		{"ask always", http.Header{"Cache-Control": {"no-cache, max-age=60"}}, freshness{}},
		{"keep nothing", http.Header{"Cache-Control": {"no-store"}}, freshness{noStore: true}},
		{"aged on the way", http.Header{"Cache-Control": {"max-age=60"}, "Age": {"50"}}, freshness{maxAge: 10 * time.Second}},
		{"stale on the way", http.Header{"Cache-Control": {"max-age=60"}, "Age": {"70"}}, freshness{}},
		{"expires", http.Header{"Expires": {now.Add(time.Minute).Format(http.TimeFormat)}}, freshness{maxAge: time.Minute}},
		{"expires by a slow clock", http.Header{"Date": {date}, "Expires": {now.Add(time.Minute - time.Hour).Format(http.TimeFormat)}}, freshness{maxAge: time.Minute}},
		{"expired", http.Header{"Expires": {date}}, freshness{odd: "shorter than the time between two checks"}},
		{"expires unreadable", http.Header{"Expires": {"0"}}, freshness{odd: "unreadable"}},
		{"max-age beats expires", http.Header{"Cache-Control": {"max-age=60"}, "Expires": {date}}, freshness{maxAge: time.Minute}},
	} {
		if got := freshnessOf(tc.header, now, floor, ceiling); got != tc.want {
			t.Errorf("%s: freshnessOf(%v) = %+v, want %+v", tc.name, tc.header, got, tc.want)
		}
	}
}

func TestRewriteLeavesOneClearLine(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.FixedZone("", 3600))
	for want, f := range map[string]freshness{
		"max-age=90": {maxAge: 90 * time.Second},
		"no-cache":   {},
		"no-store":   {noStore: true},
	} {
		h := http.Header{
			"Cache-Control": {"stale-if-error=600", "max-age=1"}, "Expires": {"0"}, "Age": {"5"}, "Pragma": {"no-cache"}, "Etag": {`"a"`},
		}
		f.rewrite(h, now)
		if got := h.Values("Cache-Control"); len(got) != 1 || got[0] != want {
			t.Errorf("rewrite(%+v): Cache-Control %q, want %q", f, got, want)
		}
		if len(h) != 3 || h.Get("Date") != "Mon, 30 Nov 2026 11:00:00 GMT" || h.Get("Etag") == "" {
			t.Errorf("rewrite(%+v) leaves %v", f, h)
		}
	}
}
