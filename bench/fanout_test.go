package bench

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/internal/certs"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// serve runs the smallest relay on loopback and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	store, err := certs.New(certs.Config{Generate: []string{"localhost"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, err := transport.Listen(pc, transport.ListenConfig{ALPNs: transport.ALPNs([]lite.Version{lite.V05}), TLS: store.TLS()})
	if err != nil {
		t.Fatal(err)
	}
	origin := moq.NewOrigin(session.RandomID(), moq.NewCache(0))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Serve(ctx, func(ctx context.Context, in *transport.Incoming) {
			s, err := session.Handshake(ctx, in.Conn, session.Config{
				Server: true, Version: lite.V05, Setup: lite.Setup{Hop: origin.ID()},
			})
			if err == nil {
				s.Run(ctx, session.Access{Origin: origin})
			}
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	return l.Addr().String()
}

func config(url string) FanoutConfig {
	return FanoutConfig{
		URL: url, Dial: transport.DialConfig{TLS: &tls.Config{InsecureSkipVerify: true}}, Version: lite.V05, PID: os.Getpid(),
		Load:   Load{Rate: 50, FrameBytes: 2000, GroupFrames: 5, Viewers: 4},
		Warmup: 100 * time.Millisecond, Window: 400 * time.Millisecond, Grace: time.Second,
	}
}

func TestFanout(t *testing.T) {
	for scheme, transport := range map[string]string{"moqt": "quic", "https": "webtransport"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			r, err := Fanout(t.Context(), config(scheme+"://"+serve(t)+"/"))
			if err != nil {
				t.Fatal(err)
			}
			if r.Transport != transport {
				t.Errorf("transport %q, want %q", r.Transport, transport)
			}
			if r.Expected != 80 || r.Delivered != 80 || r.Groups != (Groups{Expected: 16, Whole: 16}) {
				t.Errorf("%d of %d frames, groups %+v; want all of 80 and 16", r.Delivered, r.Expected, r.Groups)
			}
			if r.PerViewer != (Spread{1, 1, 1}) {
				t.Errorf("by viewer %+v, want the same for all", r.PerViewer)
			}
			if r.Relay == nil || r.Latency.P50 <= 0 {
				t.Errorf("not measured: relay %v, latency %v", r.Relay, r.Latency)
			}
			var out strings.Builder
			if err := r.Print(&out); err != nil || !strings.Contains(out.String(), "16 whole, 0 cut, 0 skipped") {
				t.Errorf("printed %q, %v", out.String(), err)
			}
		})
	}
}

func TestFanoutErrors(t *testing.T) {
	addr := serve(t)
	for name, c := range map[string]struct {
		change func(*FanoutConfig)
		want   string
	}{
		"no URL":            {func(c *FanoutConfig) { c.URL = "" }, "no relay URL"},
		"no window":         {func(c *FanoutConfig) { c.Window = 0 }, "window"},
		"no such process":   {func(c *FanoutConfig) { c.PID = 1 << 30 }, "read process"},
		"unknown authority": {func(c *FanoutConfig) { c.Dial.TLS = nil }, "publish"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config("moqt://" + addr + "/")
			c.change(&cfg)
			if _, err := Fanout(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Fanout = %v, want an error with %q", err, c.want)
			}
		})
	}
}
