package demo

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

var testPage = Page{
	Relay:        "https://127.0.0.1:4443/",
	WebSocket:    "ws://127.0.0.1:4443/",
	Certificates: "http://127.0.0.1:4443/certificates.json",
	Broadcast:    "demo",
}

func get(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w
}

func TestPage(t *testing.T) {
	h, err := testPage.Handler()
	if err != nil {
		t.Fatal(err)
	}
	for path, kind := range map[string]string{
		"/": "text/html", "/watch.js": "text/javascript", "/moq.js": "text/javascript", "/watch.css": "text/css",
		"/config.json": "application/json",
	} {
		w := get(t, h, path)
		if got := w.Header().Get("Content-Type"); w.Code != http.StatusOK || !strings.HasPrefix(got, kind) {
			t.Errorf("%s: status %d, type %q, want 200 and %q", path, w.Code, got, kind)
		}
	}
	if w := get(t, h, "/embed.go"); w.Code != http.StatusNotFound {
		t.Errorf("/embed.go: status %d, want 404", w.Code)
	}
	var got Page
	if err := json.Unmarshal(get(t, h, "/config.json").Body.Bytes(), &got); err != nil || got != testPage {
		t.Errorf("config.json is %+v, %v; want %+v", got, err, testPage)
	}
}

func TestPagePolicy(t *testing.T) {
	policy, err := testPage.policy()
	if err != nil {
		t.Fatal(err)
	}
	const want = "connect-src 'self' https://127.0.0.1:4443 ws://127.0.0.1:4443 http://127.0.0.1:4443"
	if !strings.HasSuffix(policy, want) {
		t.Errorf("policy %q, want %q at its end", policy, want)
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q allows something unsafe", policy)
	}
}

func TestPageServe(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- testPage.Serve(ctx, ln) }()
	res, err := http.Get("http://" + ln.Addr().String() + "/")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
