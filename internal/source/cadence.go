package source

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// freshness is what an answer's headers come to, once they are made sense of.
type freshness struct {
	maxAge  time.Duration // how long no request is needed; zero = ask at every check
	noStore bool
	// odd says why the server's wish could not be followed to the letter. Empty means it is.
	odd string
}

// freshnessOf reads Cache-Control, Expires and Age (RFC 9111, section 4.2). Whatever they say, checks go on: a
// lifetime that is absent, zero, unreadable or shorter than floor means a request at every check, and none is longer
// than ceiling.
func freshnessOf(h http.Header, now time.Time, floor, ceiling time.Duration) freshness {
	cc := directives(h)
	if _, ok := cc["no-store"]; ok {
		return freshness{noStore: true}
	}
	if _, ok := cc["no-cache"]; ok {
		return freshness{}
	}
	life, odd := lifetime(cc, h, now)
	switch {
	case odd != "":
		return freshness{odd: odd}
	case life > ceiling:
		return freshness{maxAge: ceiling, odd: "longer than the ceiling"}
	case life < floor:
		return freshness{odd: "shorter than the time between two checks"}
	}
	return freshness{maxAge: max(life-age(h), 0)}
}

// lifetime is what the server asks for, or why that cannot be told.
func lifetime(cc map[string]string, h http.Header, now time.Time) (life time.Duration, odd string) {
	if v, ok := cc["max-age"]; ok {
		return seconds(v)
	}
	v := h.Get("Expires")
	if v == "" {
		return 0, "absent"
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0, "unreadable"
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date // the server's clock on both sides
	}
	return at.Sub(now), ""
}

// seconds reads delta-seconds (RFC 9111, section 1.2.2); what overflows is as good as for ever.
func seconds(v string) (d time.Duration, odd string) {
	const longest = 1 << 31
	if v == "" || strings.Trim(v, "0123456789") != "" {
		return 0, "unreadable"
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil || n > longest {
		n = longest
	}
	return time.Duration(n) * time.Second, ""
}

// age is how long the answer has been in caches on the way.
func age(h http.Header) time.Duration {
	d, _ := seconds(strings.TrimSpace(h.Get("Age")))
	return d
}

// directives splits every Cache-Control line. Names are lower case, quotes are gone, the first of two equals wins.
func directives(h http.Header) map[string]string {
	cc := map[string]string{}
	for part := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(part, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if _, ok := cc[name]; !ok && name != "" {
			cc[name] = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return cc
}

// rewrite puts f into h in the one form that the cache below understands without fault: its own clock's date, one
// Cache-Control line, and nothing that lets it answer with something stale behind our back.
func (f freshness) rewrite(h http.Header, now time.Time) {
	switch {
	case f.noStore:
		h.Set("Cache-Control", "no-store")
	case f.maxAge == 0:
		h.Set("Cache-Control", "no-cache")
	default:
		h.Set("Cache-Control", "max-age="+strconv.FormatInt(int64(f.maxAge/time.Second), 10))
	}
	stamp(h, now)
}

// stamp dates an answer by our clock.
func stamp(h http.Header, now time.Time) {
	for _, name := range []string{"Expires", "Age", "Pragma"} {
		h.Del(name)
	}
	h.Set("Date", now.UTC().Format(http.TimeFormat))
}
