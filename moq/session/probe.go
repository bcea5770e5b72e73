package session

import (
	"context"
	"time"

	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

const (
	probeEvery   = 100 * time.Millisecond
	probeRefresh = 10 * time.Second
)

// serveProbe reports the path's round trip and rate for as long as the peer
// listens (§11). A path of which nothing is known stays silent.
func (s *Session) serveProbe(ctx context.Context, q *request) {
	ctx, cancel := s.untilClosed(ctx, q)
	defer cancel()
	timer := time.NewTimer(probeEvery)
	defer timer.Stop()
	var p prober
	for wait := probeEvery; ; timer.Reset(wait) {
		wait = min(2*wait, probeRefresh) // an idle path is looked at ever more rarely
		stats := s.conn.Stats()
		if s.v < lite.V04 {
			stats.RTT = 0 // no way to say it
		}
		if m, ok := p.next(time.Now(), stats); ok {
			wait = probeEvery
			if s.send(q, ClassProbe, m.Append(nil, s.v)) != nil {
				return
			}
		}
		select {
		case <-timer.C:
		case <-ctx.Done():
			q.reject(context.Cause(ctx))
			return
		}
	}
}

// prober decides when a report is due: at once, then when the round trip moved by
// a quarter, or the rate by a share that falls from a quarter at 100 ms to nothing
// at 10 s.
type prober struct {
	last lite.Probe
	at   time.Time // of the last report; zero = none yet
}

func (p *prober) next(now time.Time, stats Stats) (m lite.Probe, due bool) {
	m = lite.Probe{Bitrate: stats.SendRate, RTT: stats.RTT}
	if m == (lite.Probe{}) && p.last == m {
		return m, false
	}
	age := now.Sub(p.at)
	share := max(0, 0.25*float64(probeRefresh-age)/float64(probeRefresh-probeEvery))
	due = p.at.IsZero() || age >= probeRefresh ||
		moved(float64(p.last.RTT), float64(m.RTT), 0.25) ||
		moved(float64(p.last.Bitrate), float64(m.Bitrate), share)
	if due {
		p.last, p.at = m, now
	}
	return m, due
}

func moved(old, next, share float64) bool {
	if old == 0 || next == 0 {
		return old != next
	}
	change := next/old - 1
	return change >= share && change > 0 || -change >= share && change < 0
}
