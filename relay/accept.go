package relay

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Waits between attempts to accept while that fails.
const (
	firstAcceptWait = 100 * time.Millisecond
	lastAcceptWait  = 5 * time.Second
)

// acceptClasses say why a connection could not be accepted: it was gone already,
// we lack descriptors or memory, or something else.
var acceptClasses = [...]string{"connection", "exhausted", "unknown"}

// patientListener outlives failures to accept: it counts them, waits and tries
// again, so that a moment without descriptors does not end the relay.
type patientListener struct {
	net.Listener
	name string
	log  *slog.Logger

	failures [len(acceptClasses)]atomic.Uint64
	stalled  atomic.Int64 // when accepting began to fail, in Unix nanoseconds; 0 = it works

	once   sync.Once
	closed chan struct{}
}

func newPatientListener(ln net.Listener, name string, log *slog.Logger) *patientListener {
	return &patientListener{Listener: ln, name: name, log: log, closed: make(chan struct{})}
}

// Accept waits for a connection until the listener is closed.
func (l *patientListener) Accept() (net.Conn, error) {
	for wait := firstAcceptWait; ; wait = min(2*wait, lastAcceptWait) {
		c, err := l.Listener.Accept()
		if err == nil {
			if l.stalled.Swap(0) != 0 {
				l.log.Info("listener is accepting again", "listener", l.name)
			}
			return c, nil
		}
		if errors.Is(err, net.ErrClosed) {
			return nil, err
		}
		l.failed(err, time.Now())
		select {
		case <-time.After(wait/2 + rand.N(wait/2)):
		case <-l.closed:
			return nil, net.ErrClosed
		}
	}
}

func (l *patientListener) failed(err error, now time.Time) {
	l.failures[acceptClass(err)].Add(1)
	if l.stalled.CompareAndSwap(0, now.UnixNano()) {
		l.log.Warn("accept", "listener", l.name, "err", err)
	}
}

func acceptClass(err error) int {
	for _, exhausted := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, exhausted) {
			return 1
		}
	}
	for _, gone := range []error{syscall.ECONNABORTED, syscall.ECONNRESET, syscall.EPROTO} {
		if errors.Is(err, gone) {
			return 0
		}
	}
	return 2
}

// stalledFor is how long accepting has been failing.
func (l *patientListener) stalledFor(now time.Time) time.Duration {
	since := l.stalled.Load()
	if since == 0 {
		return 0
	}
	return now.Sub(time.Unix(0, since))
}

// Close ends the listener, and a wait of Accept.
func (l *patientListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}
