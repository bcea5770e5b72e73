package relay

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/internal/certs"
	"github.com/moqmesh/moqmesh/internal/testcert"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/relay/conf"
)

func withPublic(rules ...string) edit {
	return func(c *conf.Relay) { c.Auth.Public = rules }
}

func TestB1Health(t *testing.T) {
	n := start(t)
	for _, at := range []string{"http", "internal"} {
		for path, want := range map[string]string{"/health": "ok\n", "/ready": "ready\n"} {
			if status, body := get(t, n.url(at, path)); status != 200 || body != want {
				t.Errorf("%s %s = %d %q, want %q", at, path, status, body, want)
			}
		}
	}
}

func TestB2AnnouncedNamesAreRelative(t *testing.T) {
	n := start(t, withPublic("anon/**"))
	pub := dial(t, n.url("moqt", "/anon"))
	for _, name := range []string{"b", "a/1", ".hidden/x"} {
		pub.publish(t, name, "video")
	}
	eventually(t, "three broadcasts", func() bool { return n.origin.Len() == 3 })
	for path, want := range map[string]string{
		"/announced/anon":      "a/1\nb",
		"/announced/anon/":     "a/1\nb",
		"/announced/anon/a":    "1",
		"/announced/anon/none": "",
		"/announced":           "anon/a/1\nanon/b",
	} {
		if status, body := get(t, n.url("http", path)); status != 200 || body != want {
			t.Errorf("GET %s = %d %q, want %q", path, status, body, want)
		}
	}
}

// B3: the bytes of an open group come before it ends; a group that breaks off
// must not look whole.
func TestB3FetchStreamsAnOpenGroup(t *testing.T) {
	n := start(t)
	w := dial(t, n.url("moqt", "/anon")).publish(t, "x", "video")
	g, err := w.Group(7)
	if err != nil {
		t.Fatal(err)
	}
	frame := func(s string) {
		if err := g.WriteFrame(moq.Frame{Payload: []byte(s)}); err != nil {
			t.Fatal(err)
		}
	}
	frame("first")
	for _, group := range []string{"", "?group=latest"} {
		res, err := webClient.Get(n.url("http", "/fetch/anon/x/video"+group))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != 200 || res.Header.Get("Moq-Group") != "7" {
			t.Fatalf("fetch%s: %s, group %q", group, res.Status, res.Header.Get("Moq-Group"))
		}
		b := make([]byte, len("first"))
		if _, err := io.ReadFull(res.Body, b); err != nil || string(b) != "first" {
			t.Fatalf("open group: %q, %v", b, err)
		}
		if group == "" {
			continue // its reader leaves early
		}
		frame("second")
		g.Close()
		rest, err := io.ReadAll(res.Body)
		if err != nil || string(rest) != "second" {
			t.Errorf("rest of the group: %q, %v", rest, err)
		}
	}
}

func TestB3FetchOfABrokenGroupIsCut(t *testing.T) {
	n := start(t)
	w := dial(t, n.url("moqt", "/")).publish(t, "x", "video")
	g, err := w.Group(0)
	if err != nil {
		t.Fatal(err)
	}
	g.WriteFrame(moq.Frame{Payload: []byte("first")})
	res, err := webClient.Get(n.url("http", "/fetch/x/video"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	io.ReadFull(res.Body, make([]byte, len("first")))
	g.Abort(moq.ErrCancelled)
	if rest, err := io.ReadAll(res.Body); err == nil {
		t.Errorf("a broken group ended like a whole one, with %q", rest)
	}
}

func TestFetchByNumber(t *testing.T) {
	n := start(t)
	w := dial(t, n.url("moqt", "/")).publish(t, "x", "video")
	write(t, w, 4, "four, ", "whole")
	write(t, w, 5, "five")
	for path, want := range map[string]string{"4": "four, whole", "5": "five", "latest": "five"} {
		if status, body := get(t, n.url("http", "/fetch/x/video?group="+path)); status != 200 || body != want {
			t.Errorf("group=%s: %d %q, want %q", path, status, body, want)
		}
	}
}

func TestB4OutsideThePublicRules(t *testing.T) {
	n := start(t, func(c *conf.Relay) {
		c.Auth.Public = conf.Rules{"anon/**"}
		c.Auth.PublicPublish = conf.Rules{"in/**"}
	})
	for path, want := range map[string]int{
		"/announced/other":     401,
		"/fetch/other/x/video": 401,
		"/announced/anonymous": 401,
		"/announced/in":        200, // admitted, may see nothing
		"/fetch/in/x/video":    403,
	} {
		if status, body := get(t, n.url("http", path)); status != want {
			t.Errorf("GET %s = %d %q, want %d", path, status, body, want)
		}
	}
}

func TestB5FetchOfWhatIsNotThere(t *testing.T) {
	n := start(t)
	w := dial(t, n.url("moqt", "/")).publish(t, "x", "video")
	write(t, w, 0, "only")
	w.Finish()
	for path, want := range map[string]int{
		"/fetch/x/video?group=9":   404,
		"/fetch/x/none":            404,
		"/fetch/x/none?group=1":    404,
		"/fetch/x/video?group=":    200,
		"/fetch/x/video?group=one": 400,
		"/fetch/x/video?group=-1":  400,
		"/fetch/video":             400,
		"/fetch/":                  400,
		"/nowhere":                 404,
	} {
		if status, body := get(t, n.url("http", path)); status != want {
			t.Errorf("GET %s = %d %q, want %d", path, status, body, want)
		}
	}
}

// A fetch of what nobody announces waits, in case it comes, and gives up.
func TestB5FetchWaitsThirtySeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := New(testConfig(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		fetch := func() int {
			w := httptest.NewRecorder()
			r.publicHandler().ServeHTTP(w, httptest.NewRequest("GET", "/fetch/x/video", nil))
			return w.Code
		}
		began := time.Now()
		if status := fetch(); status != 504 || time.Since(began) != fetchWait {
			t.Errorf("status %d after %v, want 504 after %v", status, time.Since(began), fetchWait)
		}
		time.AfterFunc(10*time.Second, func() {
			b := moq.NewBroadcast(r.origin.Cache(), nil)
			track, _ := b.Create("video", moq.DefaultTrackInfo)
			track.WriteGroup(0, moq.Frame{Payload: []byte("late")})
			r.origin.Publish("x", b)
		})
		began = time.Now()
		if status := fetch(); status != 200 || time.Since(began) != 10*time.Second {
			t.Errorf("status %d after %v, want 200 with the announcement", status, time.Since(began))
		}
	})
}

// A path that the authoriser moves is read where it was moved to, and nowhere else.
func TestFetchFollowsTheDomain(t *testing.T) {
	n := start(t, func(c *conf.Relay) {
		c.Auth.Domains = []string{"live.example"}
		c.Auth.Public = conf.Rules{"tenant/**"}
	})
	pub := dial(t, n.url("moqt", "/tenant"))
	write(t, pub.publish(t, "x", "video"), 0, "of the tenant")
	outside := moq.NewBroadcast(n.origin.Cache(), nil)
	track, err := outside.Create("video", moq.DefaultTrackInfo)
	if err != nil {
		t.Fatal(err)
	}
	write(t, track, 0, "of somebody else")
	n.origin.Publish("x", outside)
	req, err := http.NewRequest("GET", n.url("http", "/fetch/x/video"), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "tenant.live.example"
	res, err := webClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	if res.StatusCode != 200 || string(body) != "of the tenant" {
		t.Errorf("fetch through the tenant's host: %d %q", res.StatusCode, body)
	}
}

func TestB6AnyPageMayRead(t *testing.T) {
	n := start(t)
	for _, path := range []string{"/health", "/certificate.sha256", "/announced", "/fetch/bad", "/nowhere"} {
		res, err := webClient.Get(n.url("http", path))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if got := res.Header.Get("Access-Control-Allow-Origin"); got != "*" {
			t.Errorf("GET %s: allowed origin %q, want *", path, got)
		}
	}
	req, err := http.NewRequest("OPTIONS", n.url("http", "/announced"), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", "https://page.example")
	req.Header.Set("Access-Control-Request-Method", "GET")
	req.Header.Set("Access-Control-Request-Headers", "x-one, x-two")
	res, err := webClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":  "*",
		"Access-Control-Allow-Methods": "GET",
		"Access-Control-Allow-Headers": "x-one, x-two",
	} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("preflight: %s %q, want %q", name, got, want)
		}
	}
	if res.StatusCode != 200 {
		t.Errorf("preflight: status %d, want 200", res.StatusCode)
	}
}

func TestLandingPage(t *testing.T) {
	n := start(t)
	if status, body := get(t, n.url("http", "/")); status != 404 || !strings.Contains(body, "moqmesh") {
		t.Errorf("GET / = %d %q, want 404 with a page that says whose it is", status, body)
	}
}

func TestCertificatesJSON(t *testing.T) {
	n := start(t)
	status, body := get(t, n.url("http", "/certificates.json"))
	var list certs.Listing
	if err := json.Unmarshal([]byte(body), &list); status != 200 || err != nil {
		t.Fatalf("GET /certificates.json = %d %q: %v", status, body, err)
	}
	_, newest := get(t, n.url("http", "/certificate.sha256"))
	current := slices.IndexFunc(list.Certificates, func(e certs.Entry) bool { return e.Current })
	if current < 0 || list.Certificates[current].SHA256 != newest {
		t.Errorf("%s: want %s as the current one", body, newest)
	}
}

// Over TLS the same pages come with HTTP/2, and sessions over wss.
func TestHTTPS(t *testing.T) {
	ca, dir := testcert.NewCA(t, "test CA"), t.TempDir()
	cert, key := ca.Server(t, "127.0.0.1").Write(t, dir, "relay")
	n := start(t, func(c *conf.Relay) {
		c.Web.HTTPS = conf.WebHTTPS{Listen: "127.0.0.1:0", Cert: []string{cert}, Key: []string{key}}
	})
	trust := &tls.Config{RootCAs: ca.Pool()}
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: trust, ForceAttemptHTTP2: true}}
	defer web.CloseIdleConnections()
	at := n.Addrs()["https"].String()
	res, err := web.Get("https://" + at + "/health")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 200 || res.ProtoMajor != 2 {
		t.Errorf("GET /health: %s over %s, want 200 over HTTP/2", res.Status, res.Proto)
	}
	pub := dial(t, "wss://"+at+"/")
	write(t, pub.publish(t, "x", "video"), 0, "hello")
	expect(t, dial(t, n.url("moqt", "/")).view(t, "x", "video"), 0, "hello")
}

// A fetch under way does not hold up a stop.
func TestStopCutsAFetch(t *testing.T) {
	n := start(t)
	w := dial(t, n.url("moqt", "/")).publish(t, "x", "video")
	g, err := w.Group(0)
	if err != nil {
		t.Fatal(err)
	}
	g.WriteFrame(moq.Frame{Payload: []byte("first")})
	res, err := webClient.Get(n.url("http", "/fetch/x/video"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	io.ReadFull(res.Body, make([]byte, len("first")))
	n.drain()
	ctx, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond)
	defer cancel()
	select {
	case <-n.over:
	case <-ctx.Done():
		t.Error("the relay waits for a fetch")
	}
	if rest, err := io.ReadAll(res.Body); err == nil {
		t.Errorf("the cut answer ended like a whole one, with %q", rest)
	}
}
