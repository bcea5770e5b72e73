package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/moqmesh/moqmesh/token"
)

// fetchTimeout bounds one exchange with a key address or the auth API.
const fetchTimeout = 10 * time.Second

// reply is what a server said.
type reply struct {
	status int
	body   []byte // at most token.MaxKeyBytes
	etag   string
	maxAge time.Duration // by Cache-Control and Age; negative = not said
}

// fetch asks address. Any status is a reply; errors name the server and never
// the query, where credentials live.
func fetch(ctx context.Context, client *http.Client, address, etag string) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	r, err := exchange(ctx, client, address, etag)
	if err != nil {
		var inner *url.Error // its text quotes the whole address
		if errors.As(err, &inner) {
			err = inner.Err
		}
		return reply{}, fmt.Errorf("get %s: %w", shown(address), err)
	}
	return r, nil
}

func exchange(ctx context.Context, client *http.Client, address, etag string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return reply{}, err
	}
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	resp, err := client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, token.MaxKeyBytes+1))
	if err != nil {
		return reply{}, err
	}
	if len(body) > token.MaxKeyBytes {
		return reply{}, fmt.Errorf("answer longer than %d bytes", token.MaxKeyBytes)
	}
	return reply{status: resp.StatusCode, body: body, etag: resp.Header.Get("ETag"), maxAge: maxAge(resp.Header)}, nil
}

func maxAge(h http.Header) time.Duration {
	life := time.Duration(-1)
	for directive := range strings.SplitSeq(strings.ToLower(strings.Join(h.Values("Cache-Control"), ",")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch name {
		case "no-store", "no-cache":
			return 0
		case "max-age":
			if n, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31); err == nil && life < 0 {
				life = time.Duration(n) * time.Second
			}
		}
	}
	if age, err := strconv.ParseUint(h.Get("Age"), 10, 31); err == nil && life > 0 {
		life = max(0, life-time.Duration(age)*time.Second)
	}
	return life
}
