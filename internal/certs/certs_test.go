package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for something that must happen.
const patience = 10 * time.Second

// logs collects log lines.
type logs struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logs) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.buf.String(), what)
}

func (l *logs) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// runner is a Store or a Client.
type runner interface {
	Load(ctx context.Context) error
	Run(ctx context.Context) error
}

// start loads r and runs it until the test ends.
func start(t *testing.T, r runner) {
	t.Helper()
	if err := r.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v, want context.Canceled", err)
		}
	})
}

func loaded(t *testing.T, cfg Config) *Store {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func loadedClient(t *testing.T, cfg ClientConfig) *Client {
	t.Helper()
	c, err := NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("no %s within %v", what, patience)
		}
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// ends are both sides of one connection after its handshake.
type ends struct {
	client, server       *tls.Conn
	clientErr, serverErr error
}

// leaf is the fingerprint that the client saw, empty without a handshake.
func (e ends) leaf() string {
	if !e.ok() {
		return ""
	}
	return Fingerprint(e.client.ConnectionState().PeerCertificates[0].Raw)
}

func (e ends) ok() bool { return e.clientErr == nil && e.serverErr == nil }

// echo proves that the connection carries bytes.
func (e ends) echo(t *testing.T) {
	t.Helper()
	sent := make(chan error, 1)
	go func() {
		_, err := e.client.Write([]byte("x"))
		sent <- err
	}()
	b := make([]byte, 1)
	if _, err := e.server.Read(b); err != nil {
		t.Errorf("read: %v", err)
	}
	if err := <-sent; err != nil {
		t.Errorf("write: %v", err)
	}
}

// shake shakes hands in memory. In TLS 1.3 a client learns of its refusal at its first read; so the server says a byte.
func shake(t *testing.T, client, server *tls.Config) ends {
	t.Helper()
	a, b := newMemConns()
	e := ends{client: tls.Client(a, client), server: tls.Server(b, server)}
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	done := make(chan struct{})
	go func() {
		defer close(done)
		if e.serverErr = e.server.Handshake(); e.serverErr == nil {
			_, e.serverErr = e.server.Write([]byte("!"))
		}
		if e.serverErr != nil {
			_ = b.Close()
		}
	}()
	if _, e.clientErr = e.client.Read(make([]byte, 1)); e.clientErr != nil {
		_ = a.Close()
	}
	<-done
	return e
}
