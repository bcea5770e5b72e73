package auth

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/token"
)

// keyURLs is a directory of {kid}.jwk behind a URL. Kids come from tokens that
// nobody has verified, so a kid that fails closes the door to other new kids
// for minAsk. Those in use are not affected.
type keyURLs struct {
	base   string
	client *http.Client
	log    *slog.Logger
	asking chan struct{} // holds one token while a new kid is tried

	mu     sync.Mutex // guards the rest
	known  map[string]*keyURL
	closed time.Time // until then no new kid is tried
}

// maxKeyURLs bounds the keys kept of one directory.
const maxKeyURLs = 100

func newKeyURLs(base string, client *http.Client, log *slog.Logger) *keyURLs {
	return &keyURLs{
		base: base, client: client, log: log,
		asking: make(chan struct{}, 1), known: make(map[string]*keyURL),
	}
}

func (d *keyURLs) get(ctx context.Context, now time.Time, kid string) (*token.KeySet, error) {
	if !token.ValidKeyID(kid) { // it becomes part of a URL
		return nil, unknownKey("", "a token for a key directory must name its key")
	}
	u := d.find(kid)
	if u == nil {
		return d.discover(ctx, now, kid)
	}
	set, err := u.get(ctx, now, "")
	if u.isGone() {
		d.mu.Lock()
		delete(d.known, kid)
		d.mu.Unlock()
		return nil, unknownKey(kid, "taken out of the directory")
	}
	return set, err
}

func (d *keyURLs) find(kid string) *keyURL {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known[kid]
}

// discover tries a kid that is not known yet, one at a time.
func (d *keyURLs) discover(ctx context.Context, now time.Time, kid string) (*token.KeySet, error) {
	select {
	case d.asking <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-d.asking }()
	u, open := d.admit(now, kid)
	if !open {
		return nil, unknownKey(kid, "not known, and the directory was asked for another just now")
	}
	set, err := u.get(ctx, now, "")
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err == nil:
		d.remember(kid, u)
	case u.isGone():
		d.closed = now.Add(minAsk)
		err = unknownKey(kid, "not in the directory")
	case ctx.Err() == nil:
		d.closed = now.Add(minAsk)
	}
	return set, err
}

// admit returns the key to try, unless new ones are not tried for now. Somebody
// else may have found it while we waited.
func (d *keyURLs) admit(now time.Time, kid string) (u *keyURL, open bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if u := d.known[kid]; u != nil {
		return u, true
	}
	address, err := url.JoinPath(d.base, kid+".jwk")
	return newKeyURL(address, d.client, d.log), err == nil && !now.Before(d.closed)
}

// remember keeps u; when there are too many it makes room by forgetting any other.
func (d *keyURLs) remember(kid string, u *keyURL) {
	for other := range d.known {
		if len(d.known) < maxKeyURLs {
			break
		}
		delete(d.known, other)
	}
	d.known[kid] = u
}

// isGone reports whether the server's last word was that there is no such key.
func (u *keyURL) isGone() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.gone
}
