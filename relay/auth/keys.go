package auth

import (
	"context"
	"log/slog"
	"net/url"
	"time"

	"github.com/moqmesh/moqmesh/token"
)

// keySource brings the keys that may verify a token.
type keySource interface {
	// get returns a set in which to look for kid, "" for a token that names
	// none. An error of type *token.Error blames the token, any other the source.
	get(ctx context.Context, now time.Time, kid string) (*token.KeySet, error)
}

func openKeys(cfg Config) (keySource, error) {
	switch {
	case isURL(cfg.Key):
		return newKeyURL(cfg.Key, cfg.Client, cfg.Log), nil
	case cfg.Key != "":
		return openKeyFile(cfg.Key, cfg.Log)
	case isURL(cfg.KeyDir):
		return newKeyURLs(cfg.KeyDir, cfg.Client, cfg.Log), nil
	case cfg.KeyDir != "":
		return openKeyDir(cfg.KeyDir, cfg.Log)
	}
	return nil, nil
}

// inlineKeys is a set that came with an answer of the auth API.
type inlineKeys struct{ set *token.KeySet }

func (k inlineKeys) get(context.Context, time.Time, string) (*token.KeySet, error) { return k.set, nil }

// shown is an address fit for a log: without user, password and query.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an unreadable URL"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

func unknownKey(kid, why string) error {
	return refuse(string(token.UnknownKey), "key %q: %s", kid, why)
}

func warn(log *slog.Logger, where string, err error) {
	log.Warn("keys not read", "source", where, "err", err)
}
