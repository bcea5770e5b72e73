package qmux

import "time"

// liveness decides when to ping and when to give up. It has no clock: its
// owner passes time in.
type liveness struct {
	idle      time.Duration // 0 = never gives up
	ping      time.Duration // 0 = never pings
	handshake time.Time     // parameters are due by then; zero = they came or are not needed

	restarted     time.Time // the idle time runs from here
	sentSinceRecv bool
	pinged        time.Time
	sequence      uint64 // of our last ping
	pinging       bool   // sequence is on its way

	rtt, minRTT time.Duration
}

func (l *liveness) received(now time.Time) {
	l.restarted, l.sentSinceRecv = now, false
}

// sent restarts the idle time once for each receipt, as QUIC does: the peer
// gets a chance to answer, but sending alone keeps nothing alive.
func (l *liveness) sent(now time.Time) {
	if !l.sentSinceRecv {
		l.restarted, l.sentSinceRecv = now, true
	}
}

// check returns why the connection is over, if it is.
func (l *liveness) check(now time.Time) error {
	switch {
	case !l.handshake.IsZero() && !now.Before(l.handshake):
		return ErrHandshake
	case l.idle > 0 && now.Sub(l.restarted) >= l.idle:
		return ErrIdle
	}
	return nil
}

func (l *liveness) pingDue(now time.Time) bool {
	return l.ping > 0 && now.Sub(l.pinged) >= l.ping
}

// next is when check or pingDue may have news; zero = never.
func (l *liveness) next() time.Time {
	at := l.handshake
	if l.idle > 0 {
		at = earlier(at, l.restarted.Add(l.idle))
	}
	if l.ping > 0 {
		at = earlier(at, l.pinged.Add(l.ping))
	}
	return at
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// startPing returns the sequence of a new ping.
func (l *liveness) startPing(now time.Time) uint64 {
	l.sequence++
	l.pinged, l.pinging = now, true
	return l.sequence
}

// pong takes the answer to a ping; false if no such ping was sent.
func (l *liveness) pong(now time.Time, sequence uint64) bool {
	if sequence == l.sequence && l.pinging {
		l.pinging = false
		l.sample(now.Sub(l.pinged))
	}
	return sequence > 0 && sequence <= l.sequence
}

// sample smooths as RFC 9002 does.
func (l *liveness) sample(rtt time.Duration) {
	if l.rtt == 0 {
		l.rtt, l.minRTT = rtt, rtt
		return
	}
	l.rtt += (rtt - l.rtt) / 8
	l.minRTT = min(l.minRTT, rtt)
}
