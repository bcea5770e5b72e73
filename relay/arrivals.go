package relay

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/relay/conf"
)

// onlyWebSocketFor is how long sessions may come over WebSocket alone before that
// looks as if UDP did not reach us.
const onlyWebSocketFor = 10 * time.Minute

// arrivalKind is a way to come in.
type arrivalKind struct{ listener, transport string }

// arrivals remembers when a session last came in each way, and notices when none
// comes over UDP. It reads no clock.
type arrivals struct {
	mu     sync.Mutex                // guards what follows
	last   map[arrivalKind]time.Time // zero = none yet
	since  time.Time                 // of the first WebSocket after the last session over UDP; zero = none
	warned bool                      // of that
}

// newArrivals knows the ways in from the start, so that their series exist.
func newArrivals(cfg conf.Relay) *arrivals {
	a := &arrivals{last: make(map[arrivalKind]time.Time)}
	for kind, open := range map[arrivalKind]bool{
		{"quic", "quic"}:         cfg.Listen.Bind != "",
		{"quic", "webtransport"}: cfg.Listen.Bind != "",
		{"http", "websocket"}:    cfg.Web.HTTP.Listen != "",
		{"https", "websocket"}:   cfg.Web.HTTPS.Listen != "",
	} {
		if open {
			a.last[kind] = time.Time{}
		}
	}
	return a
}

// came takes note of a session, whatever becomes of it: it has found its way.
func (a *arrivals) came(now time.Time, kind arrivalKind) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last[kind] = now
	switch {
	case kind.transport != "websocket":
		a.since, a.warned = time.Time{}, false
	case a.since.IsZero():
		a.since = now
	}
}

// onlyWebSocket says, once until a session comes over UDP, that sessions have come
// over WebSocket alone for onlyWebSocketFor.
func (a *arrivals) onlyWebSocket(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.warned || a.since.IsZero() || now.Sub(a.since) < onlyWebSocketFor {
		return false
	}
	a.warned = true
	return true
}

// all gives the Unix times of the last sessions by kind; 0 = none yet.
func (a *arrivals) all() map[arrivalKind]float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	seconds := make(map[arrivalKind]float64, len(a.last))
	for kind, at := range a.last {
		if seconds[kind] = 0; !at.IsZero() {
			seconds[kind] = float64(at.Unix())
		}
	}
	return seconds
}

// watch warns of a UDP address that nobody seems to reach, until ctx ends.
func (a *arrivals) watch(ctx context.Context, log *slog.Logger, addr string) error {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			if a.onlyWebSocket(now) {
				log.Warn("only WebSocket sessions come in: does UDP reach this address?", "addr", addr, "dur", onlyWebSocketFor)
			}
		case <-ctx.Done():
			return nil
		}
	}
}
