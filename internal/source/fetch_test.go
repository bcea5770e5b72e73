package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// server is an HTTP server whose next answers a test chooses. It counts requests and connections.
type server struct {
	*httptest.Server
	handler  atomic.Pointer[http.HandlerFunc]
	requests atomic.Int64
	conns    atomic.Int64
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		(*s.handler.Load())(w, r)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.conns.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *server) answer(h http.HandlerFunc) { s.handler.Store(&h) }

// etagged answers with body and honours If-None-Match.
func etagged(body, cacheControl string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		tag := fmt.Sprintf("%q", body)
		w.Header().Set("Etag", tag)
		w.Header().Set("Cache-Control", cacheControl)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, body)
	}
}

func fail(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, strings.Repeat("x", 2000), code) }
}

func TestNineFailuresKeepTheValue(t *testing.T) {
	dead := httptest.NewServer(nil)
	dead.Close()
	plain := newServer(t)
	plain.answer(etagged("8", "no-cache"))
	for name, tc := range map[string]struct {
		url     string // instead of the server's
		handler http.HandlerFunc
		want    string
	}{
		"dial": {url: dead.URL, want: "refused"},
		"tls":  {url: strings.Replace(plain.URL, "http:", "https:", 1), want: "HTTP response to HTTPS client"},
		"timeout": {handler: func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}, want: "timed out"},
		"timeout in the body": {handler: func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "8")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, want: "timed out"},
		"500":       {handler: fail(500), want: "500 Internal Server Error"},
		"429":       {handler: fail(429), want: "429 Too Many Requests"},
		"404":       {handler: fail(404), want: "404 Not Found"},
		"403":       {handler: fail(403), want: "403 Forbidden"},
		"bad body":  {handler: etagged("eight", "max-age=3600"), want: "eight"},
		"too long":  {handler: etagged(strings.Repeat("8", 200), "no-cache"), want: "longer than allowed"},
		"cut short": {handler: cutShort, want: "unexpected EOF"},
		"204":       {handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, want: "204"},
		"304 unasked": {handler: func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusNotModified)
		}, want: "304"},
		"redirect loop": {handler: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, want: "too many redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := newServer(t)
			srv.answer(etagged("7", "no-cache"))
			if name == "304 unasked" {
				srv.answer(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "7") })
			}
			client := srv.Client()
			s := mustNew(t, Config[int]{
				Locations: []string{srv.URL + "/?jwt=s3cret"}, Parse: One(number),
				Client: client, MaxBytes: 100,
			})
			mustLoad(t, s)

			f := s.reader.(*fetcher)
			if tc.want == "timed out" { // the other cases answer, however slow the machine is
				f.cfg.timeout = 300 * time.Millisecond
			}
			if tc.url != "" {
				f.cfg.url = tc.url + "/?jwt=s3cret"
			} else {
				srv.answer(tc.handler)
			}
			for range 3 {
				err := s.Load(t.Context())
				if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "s3cret") {
					t.Errorf("Load = %v, want %q and no secret", err, tc.want)
				}
			}
			if st := s.Status(); s.Get() != 7 || st.Failures != 3 || st.Err == nil || st.Confirmed.After(st.FailingSince) {
				t.Errorf("value %d, status %+v; want 7 and three failures", s.Get(), st)
			}

			f.cfg.url = srv.URL
			srv.answer(etagged("9", "no-cache"))
			mustLoad(t, s)
			if st := s.Status(); s.Get() != 9 || st.Err != nil {
				t.Errorf("value %d, status %+v; want 9 and no error", s.Get(), st)
			}
		})
	}
}

func cutShort(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "50")
	_, _ = io.WriteString(w, "8")
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// httpcache alone leaves 5xx bodies open, and each failure then costs a connection.
func TestFailuresReuseTheConnection(t *testing.T) {
	srv := newServer(t)
	s := mustNew(t, Config[int]{Locations: []string{srv.URL}, Parse: One(number), Client: srv.Client()})
	srv.answer(etagged("7", "max-age=0, stale-if-error=86400"))
	mustLoad(t, s)
	for _, code := range []int{500, 503, 429, 404} {
		srv.answer(fail(code))
		for range 5 {
			if err := s.Load(t.Context()); err == nil {
				t.Errorf("a %d was hidden", code)
			}
		}
	}
	if n := srv.conns.Load(); n != 1 {
		t.Errorf("%d connections for 21 requests, want 1", n)
	}
}

func TestConditionalAlsoAfterFailures(t *testing.T) {
	srv := newServer(t)
	s := mustNew(t, Config[int]{Locations: []string{srv.URL}, Parse: One(number), Client: srv.Client()})
	srv.answer(etagged("7", "no-cache"))
	mustLoad(t, s)
	srv.answer(fail(http.StatusTooManyRequests))
	_ = s.Load(t.Context())
	var tag string
	srv.answer(func(w http.ResponseWriter, r *http.Request) {
		tag = r.Header.Get("If-None-Match")
		etagged("7", "no-cache")(w, r)
	})
	mustLoad(t, s)
	if tag != `"7"` {
		t.Errorf("If-None-Match %q after a failure, want the tag of the last good answer", tag)
	}
	if st := s.Status(); st.Changes != 1 || st.Err != nil {
		t.Errorf("status %+v, want one change and no error", st)
	}
}

func TestRefusedBodyIsAskedForAgain(t *testing.T) {
	srv := newServer(t)
	s := mustNew(t, Config[int]{Locations: []string{srv.URL}, Parse: One(number), Client: srv.Client()})
	srv.answer(etagged("none", "max-age=3600"))
	if err := s.Load(t.Context()); err == nil {
		t.Fatal("a bad body was taken")
	}
	srv.answer(etagged("7", "max-age=3600"))
	mustLoad(t, s)
	if s.Get() != 7 {
		t.Errorf("value %d, want 7", s.Get())
	}
}

func TestNoStoreKeepsNothing(t *testing.T) {
	srv := newServer(t)
	s := mustNew(t, Config[int]{Locations: []string{srv.URL}, Parse: One(number), Client: srv.Client()})
	srv.answer(etagged("7", "no-store"))
	mustLoad(t, s)
	if s.reader.(*fetcher).stored != nil {
		t.Error("an answer with no-store was stored")
	}
}

func TestRedirects(t *testing.T) {
	target := newServer(t)
	var referer string
	target.answer(func(w http.ResponseWriter, r *http.Request) {
		referer = r.Referer()
		etagged("7", "no-cache")(w, r)
	})
	srv := newServer(t)
	srv.answer(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target.URL, http.StatusFound) })
	s := mustNew(t, Config[int]{Locations: []string{srv.URL + "?jwt=s3cret"}, Parse: One(number), Client: srv.Client()})
	mustLoad(t, s)
	mustLoad(t, s) // the 304 comes through the redirect as well
	if s.Get() != 7 || referer != "" || target.requests.Load() != 2 {
		t.Errorf("value %d, Referer %q, %d requests; want 7, none, 2", s.Get(), referer, target.requests.Load())
	}
}

func TestRedirectToPlainIsRefused(t *testing.T) {
	plain := newServer(t)
	plain.answer(etagged("7", "no-cache"))
	srv := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer srv.Close()
	s := mustNew(t, Config[int]{Locations: []string{srv.URL}, Parse: One(number), Client: srv.Client()})
	if err := s.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "from https to http") {
		t.Errorf("Load = %v, want a refusal", err)
	}
}

func TestCancelledCheckIsNoFailure(t *testing.T) {
	srv := newServer(t)
	asked := make(chan struct{}, 1)
	srv.answer(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	})
	s := mustNew(t, Config[int]{Locations: []string{srv.URL}, Parse: One(number), Client: srv.Client()})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("shutting down")
	go func() { <-asked; cancel(why) }()
	if err := s.Load(ctx); !errors.Is(err, why) {
		t.Errorf("Load = %v, want %v", err, why)
	}
	if st := s.Status(); st.Failures != 0 || st.Err != nil {
		t.Errorf("status %+v, want no failure", st)
	}
}

// tripper answers requests without a network, so that a bubble's clock can run.
type tripper struct {
	mu       sync.Mutex
	requests int
	delay    time.Duration
	body     string
	header   http.Header
	err      error
}

func (tr *tripper) RoundTrip(*http.Request) (*http.Response, error) {
	time.Sleep(tr.delay)
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.requests++
	if tr.err != nil {
		return nil, tr.err
	}
	return &http.Response{StatusCode: 200, Header: tr.header.Clone(), Body: io.NopCloser(strings.NewReader(tr.body))}, nil
}

func (tr *tripper) count() int {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.requests
}

func TestWaitingLoadsShareOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &tripper{body: "7", delay: time.Second, header: http.Header{}}
		s := mustNew(t, Config[int]{Locations: []string{"http://a.test"}, Parse: One(number), Client: &http.Client{Transport: tr}})
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if err := s.Load(t.Context()); err != nil || s.Get() != 7 {
					t.Errorf("Load = %v, value %d", err, s.Get())
				}
			})
		}
		wg.Wait()
		if n := tr.count(); n != 1 {
			t.Errorf("%d requests for 50 loads at once, want 1", n)
		}
		mustLoad(t, s)
		if n := tr.count(); n != 2 {
			t.Errorf("%d requests after a later load, want 2", n)
		}
	})
}

func TestCadence(t *testing.T) {
	for _, tc := range []struct {
		cacheControl string
		requests     int // in the ten minutes after the first
		warnings     int
	}{
		{"no-cache", 20, 0},
		{"", 20, 1},
		{"max-age=0", 20, 1},
		{"max-age=soon", 20, 1},
		{"max-age=1", 20, 1},
		{"max-age=60", 10, 0},
		{"max-age=300, must-revalidate", 2, 0},
		{"max-age=31536000", 2, 1}, // the ceiling here is five minutes
	} {
		t.Run(tc.cacheControl, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l logs
				tr := &tripper{body: "7", header: http.Header{"Cache-Control": {tc.cacheControl}, "Date": {"Mon, 01 Jan 2035 00:00:00 GMT"}}}
				s := mustNew(t, Config[int]{
					Locations: []string{"http://a.test?jwt=s3cret"}, Parse: One(number), MaxAge: 5 * time.Minute,
					Client: &http.Client{Transport: tr}, Log: l.logger(),
				})
				mustLoad(t, s)
				start(t, s)
				time.Sleep(10*time.Minute + time.Second)
				if n := tr.count() - 1; n != tc.requests {
					t.Errorf("%d requests in ten minutes, want %d", n, tc.requests)
				}
				if n := l.count("level=WARN"); n != tc.warnings || l.count("s3cret") > 0 {
					t.Errorf("%d warnings, want %d and no secret:\n%s", n, tc.warnings, l.buf.String())
				}
				if st := s.Status(); st.Age(time.Now()) > st.Every+30*time.Second {
					t.Errorf("age %v although asked every %v", st.Age(time.Now()), st.Every)
				}
			})
		})
	}
}

func TestFailStaticForDays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l logs
		tr := &tripper{body: "7", header: http.Header{"Cache-Control": {"max-age=60"}}}
		s := mustNew(t, Config[int]{
			Locations: []string{"http://a.test"}, Parse: One(number), Client: &http.Client{Transport: tr}, Log: l.logger(),
		})
		start(t, s)
		synctest.Wait()
		tr.mu.Lock()
		tr.err = errors.New("no route to host")
		tr.mu.Unlock()
		time.Sleep(48*time.Hour + time.Second) // between two checks
		if st := s.Status(); s.Get() != 7 || st.Err == nil || st.Age(time.Now()) < 47*time.Hour {
			t.Errorf("value %d, status %+v after two days without the server", s.Get(), st)
		}
		if n := l.count("level=WARN"); n < 2 || n > 1+1+48*6 {
			t.Errorf("%d warnings in two days, want one for each interval at most", n)
		}
		tr.mu.Lock()
		tr.err, tr.body = nil, "8"
		tr.mu.Unlock()
		time.Sleep(30 * time.Second)
		if st := s.Status(); s.Get() != 8 || st.Err != nil {
			t.Errorf("value %d, status %+v a period after the server came back", s.Get(), st)
		}
	})
}
