package client

import (
	"errors"
	"fmt"
	"testing"

	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/transport/websocket"
)

// TestRefused: what a server will say again is not asked again, whether it speaks by
// a session code of today, by one of relays before 0.17, or by an HTTP status.
func TestRefused(t *testing.T) {
	closed := func(code session.SessionCode, remote bool) error {
		return fmt.Errorf("handshake: %w", &session.CloseError{Code: code, Remote: remote})
	}
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("connection refused"), false},
		{&session.LostError{Idle: true, Err: errors.New("x")}, false},
		{closed(session.CodeUnauthorized, true), true},
		{closed(session.CodeUnauthorized, false), false},
		{closed(session.CodeVersion, true), true},
		{closed(session.CodeKeyValue, true), true}, // 0.14.12: unauthorized
		{closed(9, true), true},                    // 0.14.12: version
		{closed(20, true), true},                   // 0.14.12: invalid role
		{closed(session.CodeNoError, true), false},
		{closed(session.CodeGoawayTimeout, true), false},
		{closed(64+503, true), false},
		{&transport.StatusError{Status: 401}, true},
		{fmt.Errorf("dial: %w", &transport.StatusError{Status: 403}), true},
		{&transport.StatusError{Status: 404}, false},
		{&transport.StatusError{Status: 429}, false},
		{&websocket.StatusError{Status: 401}, true},
		{&websocket.StatusError{Status: 502}, false},
	} {
		if got := Refused(tt.err); got != tt.want {
			t.Errorf("Refused(%v) = %v, want %v", tt.err, got, tt.want)
		}
	}
}
