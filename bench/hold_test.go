package bench

import (
	"context"
	"crypto/tls"
	"runtime"
	"strings"
	"testing"

	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

func holding(addr string, sessions int) HoldConfig {
	return HoldConfig{
		URL: "moqt://" + addr + "/", Dial: transport.DialConfig{TLS: &tls.Config{InsecureSkipVerify: true}},
		Version: lite.V05, Sessions: sessions,
	}
}

// hold runs Hold until the test ends it, and fails unless all sessions come up.
func hold(t *testing.T, cfg HoldConfig) (end func() Held) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	readyc, donec := make(chan Held, 1), make(chan Held, 1)
	go func() {
		held, err := Hold(ctx, cfg, func(h Held) { readyc <- h })
		if err != nil {
			t.Errorf("Hold = %v", err)
		}
		donec <- held
	}()
	end = func() Held { cancel(); return <-donec }
	select {
	case h := <-readyc:
		if h != (Held{Open: cfg.Sessions}) {
			t.Errorf("ready with %+v, want %d sessions", h, cfg.Sessions)
		}
	case h := <-donec:
		cancel()
		t.Fatalf("ended with %+v before it was ready", h)
	}
	return end
}

// TestIdleSessionsCostLittle bounds what an idle session takes on both ends together.
func TestIdleSessionsCostLittle(t *testing.T) {
	const sessions, bound = 100, 400 << 10
	addr := serve(t)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	before := heap()
	end := hold(t, holding(addr, sessions))
	if each := (max(heap(), before) - before) / sessions; each > bound || each == 0 {
		t.Errorf("%d bytes for each session, want at most %d", each, bound)
	}
	if held := end(); held != (Held{Open: sessions}) {
		t.Errorf("at the end %+v, want all %d open", held, sessions)
	}
}

// TestHoldWatches reads a broadcast that begins later.
func TestHoldWatches(t *testing.T) {
	addr := serve(t)
	cfg := holding(addr, 3)
	cfg.Watch = "later"
	end := hold(t, cfg)
	load := config(cfg.URL)
	load.Path = cfg.Watch
	if _, err := Fanout(t.Context(), load); err != nil {
		t.Fatal(err)
	}
	if held := end(); held.Open != 3 || held.Frames == 0 {
		t.Errorf("at the end %+v, want 3 sessions, and frames that they read", held)
	}
}

func TestHoldErrors(t *testing.T) {
	addr := serve(t)
	for name, c := range map[string]struct {
		change func(*HoldConfig)
		want   string
	}{
		"no URL":            {func(c *HoldConfig) { c.URL = "" }, "no relay URL"},
		"no sessions":       {func(c *HoldConfig) { c.Sessions = 0 }, "sessions 0"},
		"backwards":         {func(c *HoldConfig) { c.Ramp = -1 }, "ramp"},
		"unknown authority": {func(c *HoldConfig) { c.Dial.TLS = nil }, "certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := holding(addr, 1)
			c.change(&cfg)
			_, err := Hold(t.Context(), cfg, func(Held) { t.Error("ready") })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Hold = %v, want an error with %q", err, c.want)
			}
		})
	}
}
