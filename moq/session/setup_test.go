package session_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// TestSlowSetup: a peer that never finishes its SETUP is late, and no violator: the
// session ends with the code for that, and is counted as that.
func TestSlowSetup(t *testing.T) {
	for _, tt := range []struct {
		name   string
		server bool // the end under test
		v      lite.Version
		begin  func(t *testing.T, peer *fakeConn)
	}{
		{"client on 01", true, lite.V01, func(t *testing.T, peer *fakeConn) { ask(t, peer, []byte{0x20, 0}) }},
		{"client on 06", true, lite.V06, beginSetup},
		{"server on 06", false, lite.V06, beginSetup},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				peer, conn := newFakeConns()
				s := newSide(3)
				r := s.run(t, conn, tt.v, tt.server)
				tt.begin(t, peer)
				start := time.Now()
				<-r.ended
				if took := time.Since(start); took != 10*time.Second {
					t.Errorf("the session ended after %v, want 10s", took)
				}
				var closed *session.CloseError
				if err := context.Cause(peer.ctx); !errors.As(err, &closed) || closed.Code != session.CodeControlTimeout {
					t.Errorf("the peer is told %v, want %v", err, session.CodeControlTimeout)
				}
				if v, n := s.counters.Violations.Load(), s.counters.TimedOut.Load(); v != 0 || n != 1 {
					t.Errorf("counted %d violations and %d timeouts, want one timeout", v, n)
				}
			})
		})
	}
}

// beginSetup says how long a SETUP is, and nothing of it.
func beginSetup(t *testing.T, peer *fakeConn) {
	t.Helper()
	s, err := peer.OpenUniStream()
	if err != nil {
		t.Fatal(err)
	}
	s.Write([]byte{1, 9})
}
