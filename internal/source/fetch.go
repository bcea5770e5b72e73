package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/gregjones/httpcache"
)

// fetchConfig has no optional fields.
type fetchConfig struct {
	url            string
	client         *http.Client
	max            int64
	timeout        time.Duration
	floor, ceiling time.Duration // of the time between two requests
	log            *slog.Logger
}

// fetcher reads one address. Three layers, top down: read bounds time and size; httpcache turns what it has stored into
// conditional requests; RoundTrip asks the server and hides from httpcache everything that it handles badly (failures,
// which it would store, or answer with stale bodies that it leaves open; other clocks; odd Cache-Control lines).
type fetcher struct {
	cfg    fetchConfig
	cache  httpcache.Transport
	stored slot

	asked  bool          // the server was asked during this read
	every  time.Duration // as the newest answer has it
	warned bool
}

var errTimeout = errors.New("timed out")

func newFetcher(cfg fetchConfig) *fetcher {
	client := *cfg.client
	if client.CheckRedirect == nil {
		client.CheckRedirect = follow
	}
	cfg.client = &client
	f := &fetcher{cfg: cfg}
	f.cache = httpcache.Transport{Transport: f, Cache: &f.stored}
	return f
}

func (f *fetcher) shares() bool { return true }
func (f *fetcher) refuse()      { f.stored = nil }

func (f *fetcher) read(ctx context.Context) (answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, f.cfg.timeout, errTimeout)
	defer cancel()
	doc, err := f.get(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return answer{}, err
	}
	return answer{docs: [][]byte{doc}, cached: !f.asked, every: f.every}, nil
}

// get reads the body to its end: only then does httpcache store it.
func (f *fetcher) get(ctx context.Context) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.cfg.url, nil)
	if err != nil {
		return nil, bare(err)
	}
	f.asked = false
	resp, err := f.cache.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return readBounded(resp.Body, f.cfg.max)
}

// RoundTrip asks the server for httpcache, which sees answers that can be used and nothing else.
func (f *fetcher) RoundTrip(req *http.Request) (*http.Response, error) {
	f.asked = true
	resp, err := f.cfg.client.Do(req)
	if err != nil {
		return nil, bare(err)
	}
	conditional := req.Header.Get("If-None-Match") != "" || req.Header.Get("If-Modified-Since") != ""
	switch {
	case resp.StatusCode == http.StatusOK:
		f.freshen(resp.Header)
	case resp.StatusCode == http.StatusNotModified && conditional:
		f.confirm(resp.Header)
	default:
		discard(resp.Body)
		return nil, fmt.Errorf("server answered %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	return resp, nil
}

// freshen settles how long an answer is good for.
func (f *fetcher) freshen(h http.Header) {
	now := time.Now()
	fresh := freshnessOf(h, now, f.cfg.floor, f.cfg.ceiling)
	f.every = max(fresh.maxAge, f.cfg.floor)
	if fresh.odd != "" && !f.warned {
		f.warned = true
		f.cfg.log.Warn("cache lifetime cannot be followed; using another",
			"reason", fresh.odd, "cacheControl", clip(h.Get("Cache-Control")), "dur", f.every)
	}
	fresh.rewrite(h, now)
}

// confirm does the same for a 304, which need not repeat what the stored answer says (RFC 9111, section 3.2).
func (f *fetcher) confirm(h http.Header) {
	if h.Get("Cache-Control") == "" && h.Get("Expires") == "" {
		stamp(h, time.Now())
		return
	}
	f.freshen(h)
}

// follow is the redirect policy: few hops, never from https to http, and no Referer, which would hand the query and so
// perhaps a token to another host.
func follow(req *http.Request, via []*http.Request) error {
	if len(via) > 3 {
		return errors.New("too many redirects")
	}
	if via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return errors.New("redirect from https to http")
	}
	req.Header.Del("Referer")
	return nil
}

// bare takes off the layer in which net/http quotes the whole URL.
func bare(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		return ue.Err
	}
	return err
}

// discard reads a little of a body that nobody wants, so that its connection can be used again, and closes it.
func discard(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 4<<10)
	_ = body.Close()
}

// clip bounds what a server makes us log.
func clip(s string) string {
	const longest = 100
	if len(s) > longest {
		return s[:longest] + "…"
	}
	return s
}

// slot is the storage of one answer; it knows one address and so needs no key. httpcache deletes after every failure,
// which would cost a whole body where a 304 is enough: only refuse empties the slot.
type slot []byte

// Get returns the stored answer.
func (s *slot) Get(string) ([]byte, bool) { return *s, *s != nil }

// Set stores answer in place of the one before.
func (s *slot) Set(_ string, answer []byte) { *s = answer }

// Delete does nothing.
func (s *slot) Delete(string) {}
