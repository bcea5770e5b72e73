package simlink_test

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/internal/simlink"
)

// pair is two hosts: everything goes over the second one's line.
func pair(t *testing.T, line simlink.Line) (n *simlink.Network, from, to *simlink.Host) {
	t.Helper()
	n = simlink.New(t, 1)
	return n, n.Host("10.0.0.1:1", simlink.Line{}), n.Host("10.0.0.2:1", line)
}

// addrOf writes an address as resolvers do, in 16 bytes.
func addrOf(h *simlink.Host) *net.UDPAddr {
	at := *h.LocalAddr().(*net.UDPAddr)
	at.IP = at.IP.To16()
	return &at
}

// arrivals sends packets of 1000 bytes at once and says when each came, until one
// is late by a second.
func arrivals(t *testing.T, from, to *simlink.Host, count int) (after []time.Duration) {
	t.Helper()
	start := time.Now()
	for i := range count {
		if _, err := from.WriteTo(append([]byte{byte(i)}, make([]byte, 999)...), addrOf(to)); err != nil {
			t.Fatal(err)
		}
	}
	b := make([]byte, 2000)
	last := -1
	for {
		to.SetReadDeadline(time.Now().Add(time.Second))
		n, addr, err := to.ReadFrom(b)
		if err != nil {
			return after
		}
		if n != 1000 || addr.String() != from.LocalAddr().String() || int(b[0]) <= last {
			t.Errorf("%d bytes from %v, number %d after %d", n, addr, b[0], last)
		}
		last = int(b[0])
		after = append(after, time.Since(start))
	}
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, from, to := pair(t, simlink.Line{Delay: 20 * time.Millisecond})
		got := arrivals(t, from, to, 50)
		if len(got) != 50 || got[0] != 20*time.Millisecond || got[49] != 20*time.Millisecond {
			t.Errorf("%d packets after %v, want 50 after 20ms", len(got), got)
		}
	})
}

func TestRateAndQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, from, to := pair(t, simlink.Line{Rate: 100_000, Queue: 10_000})
		got := arrivals(t, from, to, 50)
		if len(got) != 10 || got[0] != 10*time.Millisecond || got[9] != 100*time.Millisecond {
			t.Errorf("%d packets after %v, want 10, each 10ms after the one before", len(got), got)
		}
		if n.Dropped() != 40 {
			t.Errorf("%d packets dropped, want 40", n.Dropped())
		}
	})
}

func TestLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, from, to := pair(t, simlink.Line{Loss: 0.2})
		got := 0
		for range 10 {
			got += len(arrivals(t, from, to, 100))
		}
		if got < 700 || got > 900 || got+n.Dropped() != 1000 {
			t.Errorf("%d of 1000 packets came, %d were dropped, want 800", got, n.Dropped())
		}
		to.Cut()
		if got := arrivals(t, from, to, 10); len(got) != 0 {
			t.Errorf("%d packets over a cut line", len(got))
		}
	})
}

// What is sent to nobody vanishes, and is no error.
func TestNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, from, _ := pair(t, simlink.Line{})
		if _, err := from.WriteTo([]byte("x"), &net.UDPAddr{IP: net.IPv6loopback, Port: 7}); err != nil {
			t.Error(err)
		}
	})
}
