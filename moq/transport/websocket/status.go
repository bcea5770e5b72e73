package websocket

import (
	"errors"
	"fmt"
	"strings"

	"github.com/coder/websocket"

	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport/qmux"
)

// Close statuses 4000 to 4999 are for private use (RFC 6455 §7.4.2); a session
// code below maxPrivate is told as privateStatus+code.
const (
	privateStatus = 4000
	maxPrivate    = 1000
)

// maxStatusReason is what a WebSocket close frame holds, in bytes.
const maxStatusReason = 123

// statusOf says in a WebSocket close frame why the connection ended. ok is
// false where there is nothing to say: the channel failed.
func statusOf(cause error) (status websocket.StatusCode, reason string, ok bool) {
	var closed *session.CloseError
	var broken *qmux.ViolationError
	var remote *qmux.RemoteError
	switch {
	case errors.As(cause, &closed):
		return statusOfCode(closed.Code), cut(closed.Reason), true
	case errors.As(cause, &broken):
		return websocket.StatusProtocolError, cut(string(broken.Violation)), true
	case errors.As(cause, &remote):
		return websocket.StatusProtocolError, "", true
	}
	return 0, "", false
}

func statusOfCode(code session.SessionCode) websocket.StatusCode {
	switch {
	case code == session.CodeNoError:
		return websocket.StatusNormalClosure
	case code < maxPrivate:
		return privateStatus + websocket.StatusCode(code)
	}
	return websocket.StatusInternalError
}

func cut(reason string) string {
	return strings.ToValidUTF8(reason[:min(len(reason), maxStatusReason)], "")
}

// closeErrorOf reads the WebSocket close frame of a peer that sent no qmux
// close before it; any other error stays as it is.
func closeErrorOf(err error) error {
	var ce websocket.CloseError
	if !errors.As(err, &ce) {
		return err
	}
	closed := &session.CloseError{Reason: ce.Reason, Remote: true}
	switch {
	case ce.Code >= privateStatus && ce.Code < privateStatus+maxPrivate:
		closed.Code = session.SessionCode(ce.Code - privateStatus)
	case ce.Code != websocket.StatusNormalClosure && ce.Code != websocket.StatusGoingAway && ce.Code != websocket.StatusNoStatusRcvd:
		return fmt.Errorf("peer closed the WebSocket: %w", ce)
	}
	return closed
}
