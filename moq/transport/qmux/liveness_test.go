package qmux

import (
	"testing"
	"time"
)

func TestLivenessIdle(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	l := liveness{idle: 30 * time.Second}
	l.received(at(0))
	l.sent(at(10)) // the first since the receipt: the peer may answer until 40
	l.sent(at(20))
	if got := l.next(); got != at(40) {
		t.Errorf("next = %v, want %v", got, at(40))
	}
	if err := l.check(at(39)); err != nil {
		t.Errorf("check at 39 s = %v", err)
	}
	if err := l.check(at(40)); err != ErrIdle {
		t.Errorf("check at 40 s = %v, want %v", err, ErrIdle)
	}
	l.received(at(39))
	if err := l.check(at(68)); err != nil {
		t.Errorf("check 29 s after a receipt = %v", err)
	}
}

func TestLivenessPing(t *testing.T) {
	now := time.Unix(1000, 0)
	l := liveness{ping: 5 * time.Second, pinged: now}
	if l.pingDue(now.Add(4 * time.Second)) {
		t.Error("due after 4 s")
	}
	now = now.Add(5 * time.Second)
	if !l.pingDue(now) || l.startPing(now) != 1 || l.pingDue(now) {
		t.Error("not due after 5 s, or still due when sent")
	}
	if l.pong(now, 2) || l.pong(now, 0) {
		t.Error("took an answer to a ping that was never sent")
	}
	for i, rtt := range []time.Duration{80 * time.Millisecond, 160 * time.Millisecond} {
		l.startPing(now)
		if !l.pong(now.Add(rtt), uint64(2+i)) {
			t.Error("answer refused")
		}
	}
	if l.rtt != 90*time.Millisecond || l.minRTT != 80*time.Millisecond {
		t.Errorf("round trip %v, least %v, want 90ms, 80ms", l.rtt, l.minRTT)
	}
	if !l.pong(now.Add(time.Hour), 1) || l.rtt != 90*time.Millisecond {
		t.Errorf("a late answer counts: %v", l.rtt)
	}
}

func TestLivenessNever(t *testing.T) {
	var l liveness
	if at := l.next(); !at.IsZero() || l.check(time.Unix(1<<40, 0)) != nil {
		t.Errorf("a connection without timers ends at %v", at)
	}
}
