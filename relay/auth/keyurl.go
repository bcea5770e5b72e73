package auth

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/token"
)

// How often a key address is asked. Cache-Control decides between the bounds.
const (
	minAsk     = 10 * time.Second // also after a failure, and for a kid that we do not know
	defaultAsk = time.Minute
	maxAsk     = time.Hour
)

// keyURL is a key document behind a URL. It is asked only when a connection
// needs it: when what we have is stale, or lacks the kid. One connection asks;
// those that can do with the keys at hand do not wait for it. When the server
// fails, the last good keys stay in use.
type keyURL struct {
	address string
	client  *http.Client
	log     *slog.Logger
	asking  chan struct{} // holds one token while somebody asks

	mu    sync.Mutex // guards the rest
	set   *token.KeySet
	etag  string
	fresh time.Time // until then set need not be asked for again
	asked time.Time
	err   error // of the last ask
	gone  bool  // the last answer was 404 or 410
}

func newKeyURL(address string, client *http.Client, log *slog.Logger) *keyURL {
	return &keyURL{address: address, client: client, log: log, asking: make(chan struct{}, 1)}
}

func (u *keyURL) get(ctx context.Context, now time.Time, kid string) (*token.KeySet, error) {
	set, due := u.state(now, kid)
	lacking := set == nil || !has(set, kid)
	if (due || lacking) && u.enter(ctx, lacking) {
		u.askIfDue(ctx, now, kid)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.set == nil {
		return nil, u.err
	}
	return u.set, nil
}

func has(set *token.KeySet, kid string) bool { return kid == "" || set.Has(kid) }

// state returns the keys at hand and whether to ask for newer ones.
func (u *keyURL) state(now time.Time, kid string) (set *token.KeySet, due bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	good := u.set != nil && now.Before(u.fresh) && has(u.set, kid)
	return u.set, !good && now.Sub(u.asked) >= minAsk
}

// enter takes the right to ask, and waits for it only if told to.
func (u *keyURL) enter(ctx context.Context, wait bool) bool {
	select {
	case u.asking <- struct{}{}:
		return true
	default:
	}
	if !wait {
		return false
	}
	select {
	case u.asking <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// askIfDue asks unless somebody did while we waited, and gives up the right to.
func (u *keyURL) askIfDue(ctx context.Context, now time.Time, kid string) {
	defer func() { <-u.asking }()
	if _, due := u.state(now, kid); due {
		u.ask(ctx, now)
	}
}

// ask outlives the connection that needs it: others wait for the outcome too,
// and a client that hangs up must not be able to spoil it.
func (u *keyURL) ask(ctx context.Context, now time.Time) {
	u.mu.Lock()
	u.asked = now
	etag := u.etag
	u.mu.Unlock()
	r, err := fetch(context.WithoutCancel(ctx), u.client, u.address, etag)
	var set *token.KeySet
	if err == nil {
		set, err = u.read(r, etag != "")
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.err = err
	u.gone = r.status == http.StatusNotFound || r.status == http.StatusGone
	if err != nil {
		warn(u.log, shown(u.address), err)
		return
	}
	u.fresh = now.Add(lifetime(r.maxAge))
	if set != nil {
		u.set, u.etag = set, r.etag
	}
}

// read returns the keys of a reply, nil when they are those that we have and
// asked about.
func (u *keyURL) read(r reply, conditional bool) (*token.KeySet, error) {
	switch {
	case r.status == http.StatusOK:
		set, err := token.ParseKeySet(r.body)
		if err != nil {
			return nil, fmt.Errorf("get %s: %w", shown(u.address), err)
		}
		return set, nil
	case r.status == http.StatusNotModified && conditional:
		return nil, nil
	}
	return nil, fmt.Errorf("get %s: status %d", shown(u.address), r.status)
}

func lifetime(maxAge time.Duration) time.Duration {
	if maxAge < 0 {
		return defaultAsk
	}
	return min(max(maxAge, minAsk), maxAsk)
}
