package auth

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/token"
)

// admits reports whether a token of k gets in at now.
func admits(t *testing.T, a *Authorizer, now time.Time, k *token.Key) error {
	t.Helper()
	_, err := a.Authorize(context.Background(), now, Request{Token: sign(t, k, full(""))})
	return err
}

func TestKeyFileAtStart(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, cfg := range []Config{
		{Key: filepath.Join(t.TempDir(), "absent")}, {Key: t.TempDir()}, {Key: broken},
		{KeyDir: filepath.Join(t.TempDir(), "absent")}, {KeyDir: broken},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("New(%+v) starts", cfg)
		}
	}
}

func TestKeyFileRotates(t *testing.T) {
	before, after := newKey(t, "k"), newKey(t, "k")
	path := keyFileOf(t, before)
	var log bytes.Buffer
	a := mustNew(t, Config{Key: path, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err := admits(t, a, time.Now(), before); err != nil {
		t.Fatal(err)
	}
	writeKey(t, path, after)
	if err := admits(t, a, time.Now(), after); err != nil {
		t.Errorf("after rotation: %v", err)
	}
	wantRefusal(t, "the old key", admits(t, a, time.Now(), before), 401, string(token.Signature))

	if err := os.WriteFile(path, []byte("half a k"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := admits(t, a, time.Now(), after); err != nil {
			t.Errorf("with a broken file: %v", err)
		}
	}
	if n := strings.Count(log.String(), "keys not read"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, log.String())
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := admits(t, a, time.Now(), after); err != nil {
		t.Errorf("with the file gone: %v", err)
	}
	writeKey(t, path, before)
	if err := admits(t, a, time.Now(), before); err != nil {
		t.Errorf("with the file back: %v", err)
	}
}

func TestKeyDirectory(t *testing.T) {
	dir := t.TempDir()
	first, second := newKey(t, "k1"), newKey(t, "k2")
	writeKey(t, filepath.Join(dir, "k1.jwk"), first)
	a := mustNew(t, Config{KeyDir: dir})
	if err := admits(t, a, time.Now(), first); err != nil {
		t.Error(err)
	}
	wantRefusal(t, "not there yet", admits(t, a, time.Now(), second), 401, string(token.UnknownKey))
	writeKey(t, filepath.Join(dir, "k2.jwk"), second)
	if err := admits(t, a, time.Now(), second); err != nil {
		t.Errorf("added while running: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "k2.jwk")); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, "taken away", admits(t, a, time.Now(), second), 401, string(token.UnknownKey))
	if n := len(a.keys.(*keyDir).files); n != 1 {
		t.Errorf("%d files are remembered, want 1", n)
	}
}

func TestKeyDirectoryKids(t *testing.T) {
	dir := t.TempDir()
	k := newKey(t, "outside")
	writeKey(t, filepath.Join(dir, "outside.jwk"), k)
	if err := os.Mkdir(filepath.Join(dir, "keys"), 0o700); err != nil {
		t.Fatal(err)
	}
	a := mustNew(t, Config{KeyDir: filepath.Join(dir, "keys")})
	head := func(kid string) string {
		return b64(`{"alg":"EdDSA","kid":"`+kid+`"}`) + "." + b64(`{"put":""}`) + ".AA"
	}
	for _, kid := range []string{"../outside", "/etc/passwd", "a b", "", strings.Repeat("a", 129)} {
		_, err := a.Authorize(context.Background(), noon, Request{Token: head(kid)})
		wantRefusal(t, fmt.Sprintf("kid %q", kid), err, 401, string(token.Malformed))
	}
	_, err := a.Authorize(context.Background(), noon, Request{Token: b64(`{"alg":"EdDSA"}`) + "." + b64(`{"put":""}`) + ".AA"})
	wantRefusal(t, "no kid", err, 401, string(token.UnknownKey))
}

// keyServer serves documents by path and counts what it is asked.
type keyServer struct {
	*httptest.Server
	mu      sync.Mutex
	docs    map[string][]byte // nil = 500
	control string            // Cache-Control
	asked   int
	saved   int // answers 304
}

func newKeyServer(t *testing.T) *keyServer {
	s := &keyServer{docs: make(map[string][]byte)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *keyServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	doc, ok := s.docs[r.URL.Path]
	tag := fmt.Sprintf(`"%x"`, len(doc))
	switch {
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	case doc == nil:
		w.WriteHeader(http.StatusInternalServerError)
	case r.Header.Get("If-None-Match") == tag:
		s.saved++
		w.Header().Set("Cache-Control", s.control)
		w.WriteHeader(http.StatusNotModified)
	default:
		w.Header().Set("Cache-Control", s.control)
		w.Header().Set("ETag", tag)
		w.Write(doc)
	}
}

func (s *keyServer) put(path string, doc []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.docs[path] = doc
}

func (s *keyServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func jwks(t *testing.T, keys ...*token.Key) []byte {
	t.Helper()
	var objects []string
	for _, k := range keys {
		public, err := k.Public()
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, string(public.JSON()))
	}
	return []byte(`{"keys":[` + strings.Join(objects, ",") + `]}`)
}

func TestKeyURLFollowsCacheControl(t *testing.T) {
	for _, tt := range []struct {
		control string
		want    time.Duration // between two requests
	}{
		{"", time.Minute}, {"max-age=300", 5 * time.Minute}, {"public, Max-Age=\"300\"", 5 * time.Minute}, {"max-age=1", minAsk},
		{"no-cache", minAsk}, {"no-store, max-age=300", minAsk}, {"max-age=soon", time.Minute}, {"max-age=31536000", maxAsk},
	} {
		server := newKeyServer(t)
		k := newKey(t, "k1")
		server.control = tt.control
		server.put("/jwks", jwks(t, k))
		a := mustNew(t, Config{Key: server.URL + "/jwks"})
		for _, at := range []time.Duration{0, tt.want - time.Second} {
			if err := admits(t, a, noon.Add(at), k); err != nil || server.count() != 1 {
				t.Errorf("%q after %v: %v, %d requests, want 1", tt.control, at, err, server.count())
			}
		}
		if err := admits(t, a, noon.Add(tt.want), k); err != nil || server.count() != 2 || server.saved != 1 {
			t.Errorf("%q after %v: %v, %d requests, %d saved, want 2 and 1", tt.control, tt.want, err, server.count(), server.saved)
		}
	}
}

func TestKeyURLRotation(t *testing.T) {
	server := newKeyServer(t)
	server.control = "max-age=3600"
	old, fresh := newKey(t, "k1"), newKey(t, "k2")
	server.put("/jwks", jwks(t, old))
	a := mustNew(t, Config{Key: server.URL + "/jwks"})
	if err := admits(t, a, noon, old); err != nil {
		t.Fatal(err)
	}
	server.put("/jwks", jwks(t, old, fresh))
	if err := admits(t, a, noon.Add(minAsk), fresh); err != nil {
		t.Errorf("the next token: %v", err)
	}
}

// 1,000 random kids cost one request in ten seconds, and the known key goes on.
func TestUnknownKidsDoNotDriveRequests(t *testing.T) {
	k := newKey(t, "k1")
	for _, dir := range []bool{false, true} {
		server := newKeyServer(t)
		server.control = "max-age=3600"
		cfg := Config{Key: server.URL + "/jwks"}
		if dir {
			cfg = Config{KeyDir: server.URL + "/keys/"}
		}
		server.put("/jwks", jwks(t, k))
		server.put("/keys/k1.jwk", jwks(t, k))
		a := mustNew(t, cfg)
		if err := admits(t, a, noon, k); err != nil {
			t.Fatal(err)
		}
		now := noon.Add(minAsk)
		stranger := newKey(t, "x")
		var wg sync.WaitGroup
		for i := range 1000 {
			wg.Go(func() {
				tok := b64(fmt.Sprintf(`{"alg":"EdDSA","kid":"x%d"}`, i)) + "." + b64(`{"put":""}`) + ".AA"
				_, err := a.Authorize(context.Background(), now, Request{Token: tok})
				wantRefusal(t, "random kid", err, 401, string(token.UnknownKey))
			})
		}
		wg.Wait()
		if n := server.count() - 1; n != 1 {
			t.Errorf("directory %v: %d requests for 1,000 random kids, want 1", dir, n)
		}
		if err := admits(t, a, now, k); err != nil {
			t.Errorf("directory %v: the known key: %v", dir, err)
		}
		wantRefusal(t, "again in time", admits(t, a, now.Add(minAsk), stranger), 401, string(token.UnknownKey))
		if n := server.count() - 1; n != 2 {
			t.Errorf("directory %v: %d requests after ten more seconds, want 2", dir, n)
		}
	}
}

func TestKeyURLKeepsTheLastGood(t *testing.T) {
	server := newKeyServer(t)
	k := newKey(t, "k1")
	server.put("/jwks", nil)
	a := mustNew(t, Config{Key: server.URL + "/jwks?secret=s3"})
	err := admits(t, a, noon, k)
	wantRefusal(t, "no keys yet", err, 502, CodeUpstream)
	if strings.Contains(err.Error(), "s3") {
		t.Errorf("the refusal shows the query: %v", err)
	}
	wantRefusal(t, "not asked again at once", admits(t, a, noon.Add(time.Second), k), 502, CodeUpstream)
	if server.count() != 1 {
		t.Errorf("%d requests, want 1", server.count())
	}
	server.put("/jwks", jwks(t, k))
	if err := admits(t, a, noon.Add(minAsk), k); err != nil {
		t.Fatal(err)
	}
	for i, bad := range [][]byte{nil, []byte("{"), []byte(`{"keys":[]}`), bytes.Repeat([]byte(" "), token.MaxKeyBytes+1)} {
		server.put("/jwks", bad)
		if err := admits(t, a, noon.Add(time.Duration(i+1)*time.Hour), k); err != nil {
			t.Errorf("with a bad answer (%d): %v", i, err)
		}
		if want := 3 + i; server.count() != want {
			t.Errorf("%d requests, want %d", server.count(), want)
		}
	}
	server.CloseClientConnections()
	server.Close()
	if err := admits(t, a, noon.Add(24*time.Hour), k); err != nil {
		t.Errorf("with the server gone: %v", err)
	}
}

func TestKeyURLDirectory(t *testing.T) {
	server := newKeyServer(t)
	server.control = "max-age=60"
	first, second := newKey(t, "k1"), newKey(t, "k2")
	server.put("/keys/k1.jwk", jwks(t, first))
	server.put("/keys/k2.jwk", jwks(t, second))
	a := mustNew(t, Config{KeyDir: server.URL + "/keys"})
	for _, k := range []*token.Key{first, second} {
		if err := admits(t, a, noon, k); err != nil {
			t.Error(err)
		}
	}
	server.mu.Lock()
	delete(server.docs, "/keys/k2.jwk")
	server.mu.Unlock()
	if err := admits(t, a, noon.Add(59*time.Second), second); err != nil {
		t.Errorf("still fresh: %v", err)
	}
	wantRefusal(t, "taken away", admits(t, a, noon.Add(time.Minute), second), 401, string(token.UnknownKey))
	server.put("/keys/k1.jwk", nil)
	if err := admits(t, a, noon.Add(time.Minute), first); err != nil {
		t.Errorf("server in trouble: %v", err)
	}
}

// While one connection waits for a hanging key server, the others go on with
// the keys at hand, and a newcomer's client that hangs up stops waiting.
func TestKeyURLHanging(t *testing.T) {
	k := newKey(t, "k1")
	entered, release := make(chan struct{}), make(chan struct{})
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 2 {
			close(entered)
			<-release
		}
		w.Write(jwks(t, k))
	}))
	defer server.Close()
	a := mustNew(t, Config{Key: server.URL})
	if err := admits(t, a, noon, k); err != nil {
		t.Fatal(err)
	}
	later := noon.Add(maxAsk)
	done := make(chan error)
	go func() { done <- admits(t, a, later, k) }()
	<-entered
	if err := admits(t, a, later, k); err != nil {
		t.Errorf("beside the one that waits: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := a.Authorize(ctx, later, Request{Token: sign(t, newKey(t, "k2"), full(""))}); err == nil {
		t.Error("a cancelled newcomer got in")
	}
	close(release)
	if err := <-done; err != nil {
		t.Errorf("the one that waited: %v", err)
	}
}
