package peers

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// TestAdvertRoundTrip is scenario F12: what is read back can be dialled and is what was advertised, but for a slash
// at the end.
func TestAdvertRoundTrip(t *testing.T) {
	for _, tc := range []struct{ node, path, dial string }{
		{"https://b.example/", ".internal/origins/https:/b.example", "https://b.example/"},
		{"https://b.example", ".internal/origins/https:/b.example", "https://b.example/"},
		{"https://b.example:4443/room/", ".internal/origins/https:/b.example:4443/room", "https://b.example:4443/room"},
		{"host:4443", ".internal/origins/host:4443", "https://host:4443/"},
		{"host", ".internal/origins/host", "https://host/"},
		{"host:4443/room", ".internal/origins/host:4443/room", "https://host:4443/room"},
		{"moqt://[::1]:4443/", ".internal/origins/moqt:/[::1]:4443", "moqt://[::1]:4443/"},
		{"https://b.example/?cost=5", ".internal/origins/https:/b.example/?cost=5", "https://b.example/"},
		{"https://b.example/x?cost=5&v=1", ".internal/origins/https:/b.example/x?cost=5&v=1", "https://b.example/x?v=1"},
	} {
		path, err := AdvertPath(tc.node)
		if err != nil || path != tc.path {
			t.Errorf("AdvertPath(%s) = %s, %v, want %s", tc.node, path, err, tc.path)
			continue
		}
		want, _, _ := Parse(tc.node)
		got, err := ParseAdvert(path)
		if err != nil || got != want || got.DialURL("") != tc.dial {
			t.Errorf("ParseAdvert(%s) = %s, %v, want %s", path, got.DialURL(""), err, tc.dial)
		}
	}
}

func TestBadAdverts(t *testing.T) {
	for _, node := range []string{"https://b.example/?jwt=s3cret", "b?jwt=s3cret", "ftp://b", "", "https://", "b" + strings.Repeat("/b", 40)} {
		if path, err := AdvertPath(node); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("AdvertPath(%s) = %s, %v", node, path, err)
		}
	}
	for _, path := range []string{
		".internal/origins", ".internal/other/b", "room/cam", ".internal/origins/https:/b/?jwt=s3cret",
		".internal/origins/ftp:/b", ".internal/origins/https:", ".internal/origins/b/?cost=x", ".internal/origins/" + strings.Repeat("b", 3000),
	} {
		if e, err := ParseAdvert(path); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("ParseAdvert(%s) = %v, %v", path, e, err)
		}
	}
}

func FuzzParseAdvert(f *testing.F) {
	for _, s := range []string{".internal/origins/https:/b.example:4443/x?cost=5", ".internal/origins/b", ".internal/origins/[::1]:1?jwt=x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		e, err := ParseAdvert(path)
		if err != nil {
			return
		}
		again, bare, err := Parse(e.DialURL(""))
		if err != nil || bare || again.Key != e.Key || again.Query != e.Query {
			t.Errorf("ParseAdvert(%q) = %q, which reads as %q, %v", path, e.DialURL(""), again.DialURL(""), err)
		}
	})
}

func announce(t *testing.T, a *Adverts, node string, hops ...uint64) Entry {
	t.Helper()
	path, err := AdvertPath(node)
	if err != nil {
		t.Fatal(err)
	}
	e, err := a.Announce(path, Route{Hops: hops})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func withdraw(t *testing.T, a *Adverts, at time.Duration, node string) (Entry, bool) {
	t.Helper()
	path, err := AdvertPath(node)
	if err != nil {
		t.Fatal(err)
	}
	return a.Withdraw(start.Add(at), path)
}

// TestStale is scenarios F13 and F14: a relay that is away for less than a minute was never away.
func TestStale(t *testing.T) {
	a := NewAdverts()
	announce(t, a, "https://b/")
	if _, ok := withdraw(t, a, 0, "https://b/"); ok {
		t.Error("a relay that withdrew its only advert still has one")
	}
	if stale := a.Sweep(start.Add(59 * time.Second)); stale != nil {
		t.Errorf("stale after 59s: %v", stale)
	}
	announce(t, a, "https://b/")
	if stale := a.Sweep(start.Add(time.Hour)); stale != nil {
		t.Errorf("stale while announced: %v", stale)
	}
	withdraw(t, a, 0, "https://b/")
	if nodes := a.Nodes(); len(nodes) != 1 || nodes[0].Live {
		t.Errorf("nodes %v, want one that is gone and not forgotten", nodes)
	}
	if stale := a.Sweep(start.Add(Stale)); !slices.Equal(stale, []Key{"https://b/"}) {
		t.Errorf("stale after a minute: %v", stale)
	}
	if nodes := a.Nodes(); len(nodes) != 0 {
		t.Errorf("nodes %v, want none", nodes)
	}
}

// A relay that was cut off does not forget the others for it (A15).
func TestReprieve(t *testing.T) {
	a := NewAdverts()
	announce(t, a, "https://b/")
	withdraw(t, a, 0, "https://b/")
	a.Reprieve(start.Add(time.Hour))
	if stale := a.Sweep(start.Add(time.Hour + Stale - 1)); stale != nil {
		t.Errorf("stale before its time: %v", stale)
	}
	if stale := a.Sweep(start.Add(time.Hour + Stale)); len(stale) != 1 {
		t.Errorf("stale: %v, want b", stale)
	}
}

// The newest live advert of a relay counts; when it goes, the one before it does again.
func TestSeveralAdverts(t *testing.T) {
	a := NewAdverts()
	announce(t, a, "https://b/?cost=1")
	if e := announce(t, a, "https://b/?cost=2"); e.Cost != Fixed(2) {
		t.Errorf("cost %s, want that of the newest", e.Cost)
	}
	if e := announce(t, a, "https://b/?cost=1", 9); e.Cost != Fixed(2) {
		t.Errorf("another route of the older advert makes cost %s", e.Cost)
	}
	if e, ok := withdraw(t, a, 0, "https://b/?cost=2"); !ok || e.Cost != Fixed(1) {
		t.Errorf("after the newest: cost %s, %v, want the older one's", e.Cost, ok)
	}
	if _, ok := withdraw(t, a, 0, "https://b/?cost=2"); ok {
		t.Error("withdrawn twice")
	}
	if e, ok := withdraw(t, a, 0, "https://b/?cost=1"); ok || e.Cost != Fixed(1) {
		t.Errorf("after the last: %v, %v", e, ok)
	}
}

func TestAdvertsAreBounded(t *testing.T) {
	a := NewAdverts()
	for i := range MaxAdverts {
		announce(t, a, fmt.Sprintf("https://b%d/", i))
	}
	path, _ := AdvertPath("https://one-more/")
	if _, err := a.Announce(path, Route{}); !errors.Is(err, ErrFull) {
		t.Errorf("one more: %v, want ErrFull", err)
	}
	if _, ok := a.Withdraw(start, path); ok {
		t.Error("what was refused is withdrawn")
	}
	withdraw(t, a, 0, "https://b7/")
	if _, err := a.Announce(path, Route{}); !errors.Is(err, ErrFull) {
		t.Errorf("while the withdrawn one is remembered: %v, want ErrFull", err)
	}
	a.Sweep(start.Add(Stale))
	if _, err := a.Announce(path, Route{}); err != nil {
		t.Errorf("when there is room: %v", err)
	}
}

func TestNamedAndTwin(t *testing.T) {
	a := NewAdverts()
	announce(t, a, "https://b/", 7, 1)
	if k, ok := a.Named(7); !ok || k != "https://b/" {
		t.Errorf("Named(7) = %s, %v", k, ok)
	}
	announce(t, a, "https://c/", 7)
	announce(t, a, "https://d/", 0)
	announce(t, a, "https://e/", 0)
	if k, ok := a.Named(7); ok {
		t.Errorf("Named(7) = %s, though two have it", k)
	}
	if k, ok := a.Twin("https://c/"); !ok || k != "https://b/" {
		t.Errorf("Twin(c) = %s, %v, want b", k, ok)
	}
	for _, k := range []Key{"https://d/", "https://nobody/"} {
		if twin, ok := a.Twin(k); ok {
			t.Errorf("Twin(%s) = %s", k, twin)
		}
	}
	withdraw(t, a, 0, "https://b/")
	if k, ok := a.Twin("https://c/"); ok {
		t.Errorf("Twin(c) = %s, which is gone", k)
	}
	if _, ok := a.Named(0); ok {
		t.Error("Named(0) names somebody")
	}
}
