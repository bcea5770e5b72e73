package relay

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/relay/conf"
)

// A51: what makes the relay doubt that UDP reaches it.
func TestA51OnlyWebSocketSessions(t *testing.T) {
	var (
		ws   = arrivalKind{"http", "websocket"}
		quic = arrivalKind{"quic", "quic"}
		wt   = arrivalKind{"quic", "webtransport"}
	)
	type step struct {
		minute int
		came   arrivalKind // none: look
		warned bool
	}
	look := arrivalKind{}
	for name, steps := range map[string][]step{
		"nobody comes":           {{0, look, false}, {60, look, false}},
		"UDP only":               {{0, quic, false}, {60, look, false}},
		"one WebSocket":          {{0, ws, false}, {9, look, false}, {10, look, true}, {11, look, false}},
		"many WebSockets":        {{0, ws, false}, {5, ws, false}, {10, look, true}, {20, ws, false}, {60, look, false}},
		"QUIC in between":        {{0, ws, false}, {9, quic, false}, {15, look, false}, {60, look, false}},
		"WebTransport":           {{0, ws, false}, {1, wt, false}, {11, look, false}},
		"again after UDP":        {{0, ws, false}, {10, look, true}, {11, quic, false}, {12, ws, false}, {21, look, false}, {22, look, true}},
		"UDP long before":        {{0, quic, false}, {30, ws, false}, {39, look, false}, {40, look, true}},
		"late first of them all": {{100, ws, false}, {101, look, false}},
	} {
		a := newArrivals(conf.Default())
		began := time.Unix(1_800_000_000, 0)
		for _, s := range steps {
			now := began.Add(time.Duration(s.minute) * time.Minute)
			if s.came != look {
				a.came(now, s.came)
			} else if got := a.onlyWebSocket(now); got != s.warned {
				t.Errorf("%s: warned %v after %d minutes, want %v", name, got, s.minute, s.warned)
			}
		}
	}
}

func TestA51WarnsInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, a := new(logBuffer), newArrivals(conf.Default())
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			a.watch(ctx, slog.New(slog.NewTextHandler(log, nil)), "[::]:443")
		}()
		a.came(time.Now(), arrivalKind{"http", "websocket"})
		time.Sleep(time.Hour)
		stop()
		<-done
		if got := strings.Count(log.String(), "level=WARN"); got != 1 || !strings.Contains(log.String(), "addr=[::]:443") {
			t.Errorf("%d warnings, want one that names the address:\n%s", got, log)
		}
	})
}

// A51: the status says when a session last came in each way.
func TestA51LastSessions(t *testing.T) {
	n := start(t)
	status := func() (kinds map[string]bool) {
		t.Helper()
		_, body := get(t, n.url("internal", "/sessions"))
		var answer struct{ Listeners []listenerInfo }
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			t.Fatal(err)
		}
		kinds = make(map[string]bool)
		for _, l := range answer.Listeners {
			if l.Addr != n.Addrs()[l.Listener].String() {
				t.Errorf("%s is said to listen on %s", l.Listener, l.Addr)
			}
			for transport, at := range l.LastSession {
				kinds[l.Listener+" "+transport] = at > 0
			}
		}
		return kinds
	}
	const quic, wt, ws = "quic quic", "quic webtransport", "http websocket"
	for _, step := range []struct {
		scheme string
		seen   []string
	}{{"", nil}, {"ws", []string{ws}}, {"moqt", []string{ws, quic}}, {"https", []string{ws, quic, wt}}} {
		if step.scheme != "" {
			dial(t, n.url(step.scheme, "/"))
		}
		var got map[string]bool
		eventually(t, fmt.Sprintf("after %q: %v seen", step.scheme, step.seen), func() bool {
			got = status() // the client is through before the relay has taken note
			return !slices.ContainsFunc(step.seen, func(kind string) bool { return !got[kind] })
		})
		if len(got) != 3 {
			t.Fatalf("ways in: %v", got)
		}
		for _, kind := range step.seen {
			delete(got, kind)
		}
		for kind, seen := range got {
			if seen {
				t.Errorf("after %q: %s seen", step.scheme, kind)
			}
		}
	}
	for _, labels := range []string{`listener="http",transport="websocket"`, `listener="quic",transport="quic"`} {
		if at := n.scrape(t).value[prefix+`last_session_timestamp_seconds{`+labels+`}`]; at < float64(time.Now().Add(-time.Minute).Unix()) {
			t.Errorf("%s: last session at %v", labels, at)
		}
	}
}
