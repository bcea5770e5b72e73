package cluster

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/moq"
)

// fakeAPI answers for the server of the list.
type fakeAPI struct {
	mu     sync.Mutex
	body   string
	header http.Header
	status int // 0 = no server there
	asked  []*http.Request
}

func (a *fakeAPI) RoundTrip(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, r)
	if a.status == 0 {
		return nil, errors.New("connection refused")
	}
	res := &http.Response{
		StatusCode: a.status, Header: a.header.Clone(), Request: r,
		ProtoMajor: 1, ProtoMinor: 1, Body: io.NopCloser(strings.NewReader(a.body)),
	}
	if etag := a.header.Get("ETag"); etag != "" && r.Header.Get("If-None-Match") == etag {
		res.StatusCode, res.Body = http.StatusNotModified, http.NoBody
	}
	return res, nil
}

// serve answers with a body from now on.
func (a *fakeAPI) serve(body string) { a.answer(http.StatusOK, body) }

func (a *fakeAPI) answer(status int, body string, header ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status, a.body, a.header = status, body, http.Header{"Cache-Control": {"no-cache"}}
	for i := 0; i < len(header); i += 2 {
		a.header.Set(header[i], header[i+1])
	}
}

func (a *fakeAPI) requests() int {
	synctest.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.asked)
}

// tick is the time between two checks of the list.
const tick = 30 * time.Second

// open lists the URLs of the sessions that are open.
func (w *world) open() []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	urls := make(map[string]bool)
	for _, s := range w.sessions {
		if s.open() {
			urls[s.url] = true
		}
	}
	return slices.Sorted(maps.Keys(urls))
}

func (w *world) expectLinks(urls ...string) {
	w.t.Helper()
	if diff := cmp.Diff(urls, w.open()); diff != "" {
		w.t.Error(diff)
	}
}

func listed(t *testing.T, cfg Config, body string, test func(t *testing.T, w *world, api *fakeAPI)) {
	t.Helper()
	api := &fakeAPI{}
	api.serve(body)
	cfg.ConnectAPI, cfg.Client = "https://api.example/connect?key=s3cret", &http.Client{Transport: api}
	run(t, cfg, func(t *testing.T, w *world) { test(t, w, api); w.expectSaid(0, "s3cret") })
}

// TestReconcile is scenario F2: dial, stop, nothing.
func TestReconcile(t *testing.T) {
	listed(t, Config{}, `["https://a.example/"]`, func(t *testing.T, w *world, api *fakeAPI) {
		w.expectLinks("https://a.example/")
		w.expectSaid(1, "cluster.connect_api peer; dialing", "https://a.example/")
		api.serve(`["https://a.example/", "b.example:4443"]`)
		time.Sleep(tick)
		w.expectLinks("https://a.example/", "https://b.example:4443/")
		api.serve(` [ "b.example:4443", "https://a.example" ]`)
		time.Sleep(tick)
		if w.dials() != 2 {
			t.Errorf("%d dials after the same list in other words, want 2", w.dials())
		}
		api.serve(`["b.example:4443"]`)
		time.Sleep(tick)
		w.expectLinks("https://b.example:4443/")
		api.serve(`[]`)
		time.Sleep(tick)
		w.expectLinks()
		if links := w.cluster.Links(); len(links) != 0 {
			t.Errorf("links %+v, want none", links)
		}
	})
}

// A changed entry replaces the session behind its successor; a changed price alone does not.
func TestListedPeerChanges(t *testing.T) {
	listed(t, Config{}, `["https://a.example/?jwt=1"]`, func(t *testing.T, w *world, api *fakeAPI) {
		api.serve(`["https://a.example/?jwt=1&cost=4"]`)
		time.Sleep(tick)
		if p := w.session(0).price(); w.dials() != 1 || p.V != 4 {
			t.Errorf("%d dials, price %+v, want 4 in place", w.dials(), p)
		}
		w.session(0).work(true)
		api.serve(`[{"url": "https://a.example/", "token": "2"}]`)
		time.Sleep(tick + settle)
		w.expectLinks("https://a.example/?jwt=1", "https://a.example/?jwt=2")
		w.session(0).work(false)
		time.Sleep(idleEvery)
		w.expectLinks("https://a.example/?jwt=2")
	})
}

// TestOwnersTakeOver is scenario F3, and what happens when settings change hands.
func TestOwnersTakeOver(t *testing.T) {
	listed(t, static(t, "https://a.example/?jwt=1"), `["https://a.example/?jwt=2"]`, func(t *testing.T, w *world, api *fakeAPI) {
		w.expectLinks("https://a.example/?jwt=1")
		if got := w.link().Owners; !slices.Equal(got, []peers.Owner{peers.Static, peers.API}) {
			t.Errorf("owners %v", got)
		}
		api.serve(`[]`)
		time.Sleep(tick)
		api.serve(`["https://a.example/?jwt=3"]`)
		time.Sleep(tick)
		if w.dials() != 1 {
			t.Errorf("%d dials, want the static session untouched", w.dials())
		}
		w.replace()
		time.Sleep(overlap)
		w.expectLinks("https://a.example/?jwt=3")
		w.expectSaid(1, "cluster peer source changed; redialing", "owner=connect_api")
		w.replace("https://a.example/?jwt=3")
		w.replace()
		if w.dials() != 2 {
			t.Errorf("%d dials, want none for an owner with the same settings", w.dials())
		}
	})
}

// TestOwnNodeIsLeftOut is scenario F4, with the node that the server is told.
func TestOwnNodeIsLeftOut(t *testing.T) {
	cfg := Config{Node: "https://Me.example:443/?cost=2"}
	listed(t, cfg, `["https://a.example/", "me.example"]`, func(t *testing.T, w *world, api *fakeAPI) {
		w.expectLinks("https://a.example/")
		if got := api.asked[0].URL.Query(); got.Get("node") != cfg.Node || got.Get("key") != "s3cret" {
			t.Errorf("asked with %v", got)
		}
	})
}

// TestBadListsChangeNothing is reports A07 and A53: whatever comes instead of a list, the last one stays.
func TestBadListsChangeNothing(t *testing.T) {
	const good = `["https://a.example/", "https://b.example/"]`
	listed(t, Config{}, good, func(t *testing.T, w *world, api *fakeAPI) {
		for _, bad := range []struct {
			status int
			body   string
			line   string
		}{
			{0, "", "cluster.connect_api fetch failed; keeping current peers"},
			{500, "", "cluster.connect_api fetch failed; keeping current peers"},
			{404, "[]", "cluster.connect_api fetch failed; keeping current peers"},
			{200, "<html>", "invalid cluster.connect_api peer list; keeping current peers"},
			{200, `["https://a.example/", 3]`, "invalid peer at index 1"},
			{200, `["https://a.example/?cost=1", "https://a.example/"]`, "different settings"},
		} {
			before := w.said(bad.line)
			api.answer(bad.status, bad.body)
			time.Sleep(tick)
			w.expectSaid(before+1, bad.line)
		}
		w.expectLinks("https://a.example/", "https://b.example/")
		if w.dials() != 2 {
			t.Errorf("%d dials, want 2", w.dials())
		}
		if s := w.cluster.List(); s.Err == nil || s.Failures != 6 {
			t.Errorf("status of the list: %+v", s)
		}
		api.serve(`["https://b.example/"]`)
		time.Sleep(tick)
		w.expectLinks("https://b.example/")
	})
}

// TestListIsCached is scenario F6: fresh answers cost nothing, stale ones a condition.
func TestListIsCached(t *testing.T) {
	listed(t, Config{}, `["https://a.example/"]`, func(t *testing.T, w *world, api *fakeAPI) {
		api.answer(200, `["https://a.example/", "https://b.example/"]`, "Cache-Control", "max-age=100", "ETag", `"1"`)
		time.Sleep(tick)
		w.expectLinks("https://a.example/", "https://b.example/")
		n := api.requests()
		time.Sleep(3 * tick)
		if got := api.requests(); got != n {
			t.Errorf("%d requests while the answer was fresh", got-n)
		}
		time.Sleep(tick)
		if got := api.requests(); got != n+1 || api.asked[n].Header.Get("If-None-Match") != `"1"` {
			t.Errorf("%d requests when it was stale, want one with a condition", got-n)
		}
		w.expectLinks("https://a.example/", "https://b.example/")
	})
}

// awaitLine is a log that waits for one line.
type awaitLine struct {
	line string
	once sync.Once
	seen chan struct{}
}

func (a *awaitLine) Write(p []byte) (int, error) {
	if strings.Contains(string(p), a.line) {
		a.once.Do(func() { close(a.seen) })
	}
	return len(p), nil
}

// TestListInAFile is scenario F5. It is the only test with files, so not in a bubble.
func TestListInAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "peers.json")
	write := func(body string) {
		t.Helper()
		if err := os.WriteFile(file+".new", []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	write(`["https://a.example/"]`)
	dialled := make(chan peers.Key, 10)
	refuse := func(_ context.Context, r Request) (Dialled, error) {
		dialled <- r.Peer
		return Dialled{}, errors.New("refused")
	}
	malformed := &awaitLine{line: "cluster.connect_api file is not a JSON array of peers; keeping current peers", seen: make(chan struct{})}
	c, err := New(Config{
		ConnectAPI: file, Dial: refuse, Origin: moq.NewOrigin(ownID, moq.NewCache(0)),
		Log: slog.New(slog.NewTextHandler(malformed, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	defer func() { cancel(); <-done }()
	await := func(want peers.Key) {
		t.Helper()
		for deadline := time.After(10 * time.Second); ; {
			select {
			case k := <-dialled:
				if k == want {
					return
				}
			case <-deadline:
				t.Fatalf("%s is not dialled", want)
			}
		}
	}
	await("https://a.example/")
	write(`["https://b.example/"]`)
	await("https://b.example/")
	write(`["https://c.example/"`)
	select {
	case <-malformed.seen:
	case <-time.After(10 * time.Second):
		t.Fatal("nothing is said of a file that is no list")
	}
	write(`["https://d.example/", "https://b.example/"]`)
	await("https://d.example/")
}

func TestNewRefuses(t *testing.T) {
	origin := moq.NewOrigin(ownID, moq.NewCache(0))
	dial := func(context.Context, Request) (Dialled, error) { return Dialled{}, errors.New("unused") }
	for want, cfg := range map[string]Config{
		"--cluster-mesh needs --cluster-node":      {Mesh: true},
		"holds a token":                            {Node: "https://a.example/?jwt=s3cret"},
		"cluster node: not a URL with a host":      {Node: "https://"},
		"cluster peers without a way to dial them": {Static: static(t, "a").Static},
		"at index 0 with different settings":       {Static: static(t, "a", "a?cost=1").Static, Dial: dial},
		`cluster.connect_api: location ftp://a`:    {ConnectAPI: "ftp://a?key=s3cret", Dial: dial},
		"cluster.connect_api: location file://a/x": {ConnectAPI: "file://a/x", Dial: dial},
	} {
		cfg.Origin = origin
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("New = %v, want %q", err, want)
		}
	}
	if _, err := New(Config{Origin: origin, Node: "https://a.example", Mesh: true}); err != nil {
		t.Errorf("a rendezvous needs no way to dial: %v", err)
	}
}

func TestReadToken(t *testing.T) {
	dir := t.TempDir()
	write := func(name, body string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if got, err := ReadToken(write("good", "\n abc.def \n")); err != nil || got != "abc.def" {
		t.Errorf("ReadToken = %q, %v", got, err)
	}
	for _, path := range []string{filepath.Join(dir, "none"), write("empty", " \n"), write("huge", strings.Repeat("x", maxToken+1))} {
		if _, err := ReadToken(path); err == nil || !strings.HasPrefix(err.Error(), "failed to read cluster token") {
			t.Errorf("ReadToken(%s) = %v", path, err)
		}
	}
}
