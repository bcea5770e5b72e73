package relay

import (
	"errors"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// troubled is a listener that fails with each of its errors before it accepts.
type troubled struct {
	net.Listener
	errs []error
}

func (l *troubled) Accept() (net.Conn, error) {
	if len(l.errs) > 0 {
		err := l.errs[0]
		l.errs = l.errs[1:]
		return nil, &net.OpError{Op: "accept", Err: err}
	}
	c, _ := net.Pipe()
	return c, nil
}

func (l *troubled) Close() error { return nil }

// B8: failures to accept are counted by kind, waited out and never fatal.
func TestB8AcceptGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := new(logBuffer)
		l := newPatientListener(&troubled{errs: []error{
			syscall.EMFILE, syscall.EMFILE, syscall.ECONNABORTED, errors.New("odd"),
		}}, "web", slog.New(slog.NewTextHandler(log, nil)))
		began := time.Now()
		time.AfterFunc(500*time.Millisecond, func() {
			if l.stalledFor(time.Now()) != 500*time.Millisecond {
				t.Errorf("stalled for %v, want 500ms", l.stalledFor(time.Now()))
			}
		})
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		if took := time.Since(began); took < 750*time.Millisecond || took > 1500*time.Millisecond { // 100 + 200 + 400 + 800 ms, at least half of it
			t.Errorf("accepted after %v", took)
		}
		for class, want := range []uint64{1, 2, 1} {
			if got := l.failures[class].Load(); got != want {
				t.Errorf("%s: %d failures, want %d", acceptClasses[class], got, want)
			}
		}
		if l.stalledFor(time.Now()) != 0 || strings.Count(log.String(), "level=WARN") != 1 ||
			!strings.Contains(log.String(), "listener is accepting again") {
			t.Errorf("stalled for %v after that, log:\n%s", l.stalledFor(time.Now()), log)
		}
	})
}

// Closing ends a wait between two attempts.
func TestB8CloseWhileStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newPatientListener(&troubled{errs: []error{syscall.EMFILE}}, "web", slog.New(slog.DiscardHandler))
		time.AfterFunc(10*time.Millisecond, func() { l.Close() })
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Accept = %v, want closed", err)
		}
	})
}

func TestAcceptFailuresAreExported(t *testing.T) {
	n := start(t)
	m := n.scrape(t)
	for _, listener := range []string{"web", "internal"} {
		for _, class := range acceptClasses {
			series := prefix + `accept_failures_total{class="` + class + `",listener="` + listener + `"}`
			if got, ok := m.value[series]; !ok || got != 0 {
				t.Errorf("%s = %v (there: %v), want 0", series, got, ok)
			}
		}
		if _, ok := m.value[prefix+`accept_stalled_seconds{listener="`+listener+`"}`]; !ok {
			t.Errorf("no gauge of %s", listener)
		}
	}
}
