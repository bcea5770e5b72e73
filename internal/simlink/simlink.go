// Package simlink joins hosts by simulated links, so that tests run real QUIC in
// a synctest bubble: delays take no wall time, and what a link loses or holds
// back is the test's choice. Nothing here may be used outside tests.
//
// Start from [New]; each [Network.Host] is a net.PacketConn behind a [Line] of
// its own.
package simlink

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/quic-go/testutils/simnet"
)

// Line is how a host hangs on the network; both directions are alike. The zero
// value passes every packet on at once.
type Line struct {
	// Delay is how long a packet takes one way.
	Delay time.Duration
	// Loss is the share of packets that vanish, 0 to 1.
	Loss float64
	// Rate is in bytes per second. Zero: no bound.
	Rate int
	// Queue is how many bytes may wait for Rate; packets beyond it are dropped.
	// Zero: 64 KiB.
	Queue int
}

const defaultQueue = 64 << 10

// Network carries packets between its hosts. What is sent to an address that
// nobody has vanishes, as on a real network.
type Network struct {
	t testing.TB

	mu      sync.Mutex // guards what follows, and the lines
	hosts   map[netip.AddrPort]*Host
	rand    *rand.Rand
	dropped int
}

// New returns an empty network, for the length of a test in a bubble. seed
// decides which packets are lost.
func New(t testing.TB, seed uint64) *Network {
	t.Helper()
	return &Network{t: t, hosts: make(map[netip.AddrPort]*Host), rand: rand.New(rand.NewPCG(seed, 0))}
}

// Host is one socket on the network.
type Host struct {
	*simnet.SimConn
	n        *Network
	line     Line // guarded by n.mu
	up, down direction
}

// Host opens a socket at addr, say 10.0.0.1:443. It works until the test ends.
func (n *Network) Host(addr string, line Line) *Host {
	n.t.Helper()
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		n.t.Fatal(err)
	}
	h := &Host{n: n, line: line, up: newDirection(), down: newDirection()}
	h.SimConn = simnet.NewBlockingSimConn(net.UDPAddrFromAddrPort(at), h)
	n.mu.Lock()
	n.hosts[at] = h
	n.mu.Unlock()
	var running sync.WaitGroup
	running.Go(func() { h.up.run(n.route) })
	running.Go(func() { h.down.run(h.RecvPacket) })
	n.t.Cleanup(func() {
		h.Close()
		close(h.up.stop)
		close(h.down.stop)
		running.Wait()
	})
	return h
}

// Set changes the line, for packets that are sent from now on.
func (h *Host) Set(line Line) {
	h.n.mu.Lock()
	defer h.n.mu.Unlock()
	h.line = line
}

// Cut loses everything from now on, in both directions.
func (h *Host) Cut() { h.Set(Line{Loss: 1}) }

// Dropped is how many packets the lines have lost or had no room for.
func (n *Network) Dropped() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dropped
}

// AddNode is for simnet, whose sockets introduce themselves.
func (h *Host) AddNode(net.Addr, simnet.PacketReceiver) {}

// SendPacket takes a packet of the host's own.
func (h *Host) SendPacket(p simnet.Packet) error {
	h.n.enter(h, &h.up, p)
	return nil
}

// route brings a packet that has left its host to the line of the other.
func (n *Network) route(p simnet.Packet) {
	to := p.To.(*net.UDPAddr).AddrPort()
	n.mu.Lock()
	h := n.hosts[netip.AddrPortFrom(to.Addr().Unmap(), to.Port())]
	n.mu.Unlock()
	if h != nil {
		n.enter(h, &h.down, p)
	}
}

// enter puts a packet onto one direction of a line, or drops it.
func (n *Network) enter(h *Host, d *direction, p simnet.Packet) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at, ok := d.admit(time.Now(), len(p.Data), h.line)
	if !ok || n.rand.Float64() < h.line.Loss {
		n.dropped++
		return
	}
	select {
	case d.queue <- inFlight{p, at}:
	default:
		n.dropped++
	}
}

// direction is one way of a line: packets leave it in the order they came in.
type direction struct {
	queue chan inFlight
	stop  chan struct{}
	free  time.Time // when the last bit is through; guarded by Network.mu
}

type inFlight struct {
	simnet.Packet
	at time.Time // of arrival
}

func newDirection() direction {
	return direction{queue: make(chan inFlight, 4096), stop: make(chan struct{})}
}

// admit says when a packet that comes now is through, and whether there is room.
func (d *direction) admit(now time.Time, size int, l Line) (at time.Time, ok bool) {
	begin := now
	if d.free.After(now) {
		begin = d.free
	}
	if l.Rate > 0 {
		bound := l.Queue
		if bound == 0 {
			bound = defaultQueue
		}
		if waiting := begin.Sub(now).Seconds() * float64(l.Rate); int(waiting)+size > bound {
			return at, false
		}
		begin = begin.Add(time.Duration(float64(size) / float64(l.Rate) * float64(time.Second)))
	}
	d.free = begin
	return begin.Add(l.Delay), true
}

// run hands packets on when their time has come.
func (d *direction) run(next func(simnet.Packet)) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case p := <-d.queue:
			if !d.await(timer, p.at) {
				return
			}
			next(p.Packet)
		case <-d.stop:
			return
		}
	}
}

// await waits until a time; false: the network has ended. A time that has come takes
// no timer: in Go 1.26 several goroutines of a bubble that find theirs due at once
// crash the race detector.
func (d *direction) await(timer *time.Timer, at time.Time) bool {
	wait := time.Until(at)
	if wait <= 0 {
		return true
	}
	timer.Reset(wait)
	select {
	case <-timer.C:
		return true
	case <-d.stop:
		return false
	}
}
