package transport

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/internal/simlink"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// TestIdleTimeoutIsNamed: a connection whose peer falls silent says so, and so does
// everything that was waiting on it.
func TestIdleTimeoutIsNamed(t *testing.T) {
	for _, scheme := range schemes {
		t.Run(scheme, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := join(t, scheme, simlink.Line{}, nil)
				stream, err := p.client.OpenStream(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				stream.Write([]byte("x"))
				got, err := p.server.AcceptStream(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				p.line.Cut()
				for name, end := range map[string]struct {
					conn   session.Conn
					stream io.Reader
				}{"client": {p.client, stream}, "server": {p.server, got}} {
					_, read := io.ReadAll(end.stream)
					_, accept := end.conn.AcceptUniStream(t.Context())
					<-end.conn.Context().Done()
					for what, err := range map[string]error{"read": read, "accept": accept, "connection": context.Cause(end.conn.Context())} {
						var lost *session.LostError
						if !errors.As(err, &lost) || !lost.Idle {
							t.Errorf("%s, %s: %v, want an idle timeout", name, what, err)
						}
					}
				}
			})
		})
	}
}

// TestSessionEndsAreNamed: Run returns what happened to a session, on both ends, and
// counts it as that: no silence is a violation.
func TestSessionEndsAreNamed(t *testing.T) {
	for name, tt := range map[string]struct {
		do             func(*pair)
		client, server session.End
	}{
		"silence":          {func(p *pair) { p.line.Cut() }, session.EndIdle, session.EndIdle},
		"closed by client": {func(p *pair) { p.client.Close(session.CodeNoError, "") }, session.EndLocal, session.EndPeer},
		"closed by server": {func(p *pair) { p.server.Close(session.CodeInternal, "x") }, session.EndPeer, session.EndLocal},
	} {
		for _, scheme := range schemes {
			t.Run(name+"/"+scheme, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := join(t, scheme, simlink.Line{Delay: 20 * time.Millisecond}, nil)
					var client, server session.Counters
					ended := make(chan error, 2)
					go func() { ended <- runSession(p.client, false, &client) }()
					go func() { ended <- runSession(p.server, true, &server) }()
					time.Sleep(time.Second)
					tt.do(p)
					for range 2 {
						t.Log(<-ended)
					}
					for _, end := range []struct {
						name string
						c    *session.Counters
						want session.End
					}{{"client", &client, tt.client}, {"server", &server, tt.server}} {
						if end.c.Ended[end.want].Load() != 1 || end.c.Violations.Load() != 0 {
							t.Errorf("%s: not counted as %q; %d violations", end.name, session.Ends[end.want], end.c.Violations.Load())
						}
					}
				})
			})
		}
	}
}

func runSession(c session.Conn, server bool, counters *session.Counters) error {
	s, err := session.Handshake(context.Background(), c, session.Config{Server: server, Version: lite.V06, Counters: counters})
	if err != nil {
		return err
	}
	return s.Run(context.Background(), session.Access{Origin: moq.NewOrigin(1, moq.NewCache(0))})
}
