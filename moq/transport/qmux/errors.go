package qmux

import (
	"errors"
	"fmt"
	"math"

	"github.com/moqmesh/moqmesh/moq/session"
)

var (
	// ErrIdle says that nothing arrived for the idle timeout.
	ErrIdle = errors.New("idle timeout")
	// ErrHandshake says that the peer's transport parameters did not come in time.
	ErrHandshake = errors.New("no transport parameters in time")
)

// Violation is a way for a peer to break the protocol: a closed set, for
// counters.
type Violation string

// The violations.
const (
	Malformed     Violation = "malformed"      // bytes that are no frame of the version
	BadParameters Violation = "parameters"     // transport parameters late, twice or impossible
	FlowControl   Violation = "flow_control"   // more data than granted
	StreamLimit   Violation = "stream_limit"   // more streams than granted
	StreamState   Violation = "stream_state"   // a frame its stream cannot have
	BadPing       Violation = "ping"           // a ping or its answer out of sequence
	Overrun       Violation = "legacy_overrun" // legacy framing: more data or streams than we hold
)

// Violations lists every Violation.
func Violations() []Violation {
	return []Violation{Malformed, BadParameters, FlowControl, StreamLimit, StreamState, BadPing, Overrun}
}

// ViolationError ends a connection whose peer broke the protocol. The peer is
// told with CONNECTION_CLOSE 1002.
type ViolationError struct {
	Violation Violation
	Detail    string
}

func (e *ViolationError) Error() string {
	return fmt.Sprintf("peer violates qmux (%s): %s", e.Violation, e.Detail)
}

// codeViolation is the code of a CONNECTION_CLOSE for a violation.
const codeViolation = 1002

func violation(v Violation, format string, args ...any) *ViolationError {
	return &ViolationError{Violation: v, Detail: fmt.Sprintf(format, args...)}
}

// RemoteError is an abnormal end of the connection that the peer declared
// (CONNECTION_CLOSE). Its code is qmux's, not MoQ's.
type RemoteError struct {
	Code   uint64
	Reason string
}

func (e *RemoteError) Error() string {
	return fmt.Sprintf("connection closed by peer: qmux code %d (%s)", e.Code, e.Reason)
}

// remoteStreamError is the peer's reset or stop.
func remoteStreamError(code uint64) *session.StreamError {
	if code > math.MaxUint32 {
		return &session.StreamError{Code: session.StreamCancelled, Remote: true}
	}
	return &session.StreamError{Code: session.StreamCode(code), Coded: true, Remote: true}
}

func localStreamError(code session.StreamCode) *session.StreamError {
	return &session.StreamError{Code: code, Coded: true}
}

// remoteCloseError is the peer's APPLICATION_CLOSE.
func remoteCloseError(code uint64, reason string) *session.CloseError {
	return &session.CloseError{
		Code:   session.SessionCode(min(code, math.MaxUint32)),
		Reason: reason,
		Remote: true,
	}
}
