package interop

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// browser is a headless Chromium, driven through js/browser.mjs, with a server for our pages.
type browser struct {
	requests io.Writer
	answers  *json.Decoder
	driver   *process
	site     string // address of the bundled pages
	sent     int    // requests so far; the last one's id
}

// startBrowser bundles the pages and starts Chromium for the rest of the test.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	cmd := node(t, "browser.mjs", tool(t, "chromium"))
	in, toDriver := io.Pipe()
	fromDriver, out := io.Pipe()
	cmd.Stdin, cmd.Stdout = in, out
	b := &browser{requests: toDriver, answers: json.NewDecoder(bufio.NewReader(fromDriver)), site: servePages(t)}
	b.driver = start(t, "browser", cmd)
	t.Cleanup(func() {
		toDriver.Close() // the driver ends Chromium and itself
		b.driver.wait(5 * time.Second)
		out.Close()
	})
	return b
}

// servePages bundles js/pages and serves each as /NAME.
func servePages(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	entries, err := filepath.Glob(filepath.Join(jsDir, "pages", "*.js"))
	if err != nil || len(entries) == 0 {
		t.Fatalf("no pages in %s: %v", jsDir, err)
	}
	args := append([]string{"--bundle", "--format=esm", "--log-level=warning", "--outdir=" + dir}, entries...)
	run(t, "esbuild", time.Minute, exec.Command(filepath.Join(jsDir, "node_modules", ".bin", "esbuild"), args...))

	mux := http.NewServeMux()
	mux.Handle("GET /js/", http.StripPrefix("/js/", http.FileServer(http.Dir(dir))))
	mux.HandleFunc("GET /{page}", func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!doctype html><body><script type=module src=\"/js/%s.js\"></script>", url.PathEscape(req.PathValue("page")))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// request is what js/browser.mjs understands; see there.
type request struct {
	ID         int    `json:"id"`
	Op         string `json:"op"`
	Page       string `json:"page"`
	URL        string `json:"url,omitempty"`
	Expression string `json:"expression,omitempty"`
	Path       string `json:"path,omitempty"`
	Limit      int64  `json:"limit,omitempty"` // milliseconds
}

// do sends one request and stores its value in value, unless that is nil. Requests are
// strictly one after the other.
func (b *browser) do(r request, value any) error {
	b.sent++
	r.ID = b.sent
	if err := json.NewEncoder(b.requests).Encode(r); err != nil {
		return err
	}
	var answer struct {
		ID    int             `json:"id"`
		Value json.RawMessage `json:"value"`
		Error string          `json:"error"`
	}
	if err := b.answers.Decode(&answer); err != nil {
		return fmt.Errorf("browser driver: %w", err)
	}
	if answer.ID != r.ID {
		return fmt.Errorf("browser driver answered request %d instead of %d", answer.ID, r.ID)
	}
	if answer.Error != "" {
		return errors.New(answer.Error)
	}
	if value == nil || answer.Value == nil {
		return nil
	}
	return json.Unmarshal(answer.Value, value)
}

// page is a tab of its own, closed with the test that opened it.
type page struct {
	b  *browser
	id string
}

// open opens one of our pages, with what it asks for in its address.
func (b *browser) open(t *testing.T, name string, query map[string]string) page {
	t.Helper()
	values := url.Values{}
	for k, v := range query {
		values.Set(k, v)
	}
	return b.openURL(t, name, b.site+"/"+name+"?"+values.Encode())
}

// openURL opens any address; name is for messages and screenshots.
func (b *browser) openURL(t *testing.T, name, address string) page {
	t.Helper()
	p := page{b: b, id: unique(name)}
	if err := b.do(request{Op: "open", Page: p.id, URL: address}, nil); err != nil {
		t.Fatalf("open page %s: %v", name, err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			p.screenshot(t, name+"-failed")
		}
		p.close(t)
	})
	return p
}

// wait waits until the JavaScript expression is true in the page, and stores its value.
func (p page) wait(t *testing.T, expression string, limit time.Duration, value any) {
	t.Helper()
	err := p.b.do(request{Op: "wait", Page: p.id, Expression: expression, Limit: limit.Milliseconds()}, value)
	if err != nil {
		t.Fatalf("page %s: waiting for %s: %v", p.id, expression, err)
	}
}

// evaluate stores the value of a JavaScript expression.
func (p page) evaluate(t *testing.T, expression string, value any) {
	t.Helper()
	if err := p.b.do(request{Op: "evaluate", Page: p.id, Expression: expression}, value); err != nil {
		t.Fatalf("page %s: %s: %v", p.id, expression, err)
	}
}

// screenshot leaves a picture of the page among the test's artifacts (go test -artifacts).
func (p page) screenshot(t *testing.T, name string) {
	t.Helper()
	path := filepath.Join(t.ArtifactDir(), name+".png")
	if err := p.b.do(request{Op: "screenshot", Page: p.id, Path: path}, nil); err != nil {
		t.Errorf("screenshot of %s: %v", p.id, err)
		return
	}
	t.Logf("screenshot: %s", path)
}

func (p page) close(t *testing.T) {
	t.Helper()
	if err := p.b.do(request{Op: "close", Page: p.id}, nil); err != nil {
		t.Errorf("close page %s: %v", p.id, err)
	}
}
