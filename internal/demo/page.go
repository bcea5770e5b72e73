package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/moqmesh/moqmesh/web"
)

// Page is where the page finds what it shows. The page reads it as config.json.
type Page struct {
	Relay        string `json:"relay"`        // URL for WebTransport, https
	WebSocket    string `json:"webSocket"`    // URL of the fallback, ws or wss; empty: none
	Certificates string `json:"certificates"` // URL that lists the relay's generated certificates; empty: a public one
	Broadcast    string `json:"broadcast"`    // to watch
}

// Serve serves the page on ln until ctx ends, and closes ln.
func (p Page) Serve(ctx context.Context, ln net.Listener) error {
	h, err := p.Handler()
	if err != nil {
		ln.Close()
		return err
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { srv.Close() })
	defer stop()
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the page: %w", err)
	}
	return nil
}

// Handler serves the page and its config.json.
func (p Page) Handler() (http.Handler, error) {
	config, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	policy, err := p.policy()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /config.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(config)
	})
	mux.Handle("GET /", http.FileServerFS(web.Files))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-cache")
		mux.ServeHTTP(w, r)
	}), nil
}

// policy lets the page load its own files and connect to the relay, nothing else.
func (p Page) policy() (string, error) {
	policy := "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'"
	for _, raw := range []string{p.Relay, p.WebSocket, p.Certificates} {
		if raw == "" {
			continue
		}
		u, err := url.Parse(raw)
		if err != nil {
			return "", err
		}
		policy += " " + u.Scheme + "://" + u.Host
	}
	return policy, nil
}
