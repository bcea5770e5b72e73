package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// Conn is one established transport connection, ready for the first MoQ byte:
// raw QUIC, WebTransport or qmux. All methods are safe for concurrent use.
//
// Codes are MoQ codes. The transport maps stream codes into the WebTransport
// range where its wire wants that (moq-lite.md §2.4) and maps them back on
// receipt; session close codes travel as they are.
type Conn interface {
	// OpenStream opens a bidirectional stream, waiting for stream credit until ctx ends.
	OpenStream(ctx context.Context) (Stream, error)
	// OpenUniStream opens a unidirectional stream. It never waits: without
	// stream credit it returns ErrNoCredit.
	OpenUniStream() (SendStream, error)
	AcceptStream(ctx context.Context) (Stream, error)
	AcceptUniStream(ctx context.Context) (ReceiveStream, error)
	// SendDatagram queues p and never waits. ErrDatagramDropped when the queue
	// is full, the peer takes no datagrams, or p is too large for the path.
	SendDatagram(p []byte) error
	// ReceiveDatagram returns the next datagram; the caller owns it.
	ReceiveDatagram(ctx context.Context) ([]byte, error)
	// Close ends the connection with a MoQ session code. Later calls do
	// nothing. It returns at once; the code is flushed in the background.
	Close(code SessionCode, reason string)
	// Context ends with the connection. context.Cause is a *CloseError where
	// either side gave a code, else a *LostError. What waits on the connection or
	// its streams returns the same, maybe a little before Context ends.
	Context() context.Context
	Stats() Stats
	LocalAddr() net.Addr
	RemoteAddr() net.Addr
}

// SendStream is the sending half of a stream. One goroutine writes at a time;
// Reset and SetPriority may come from any.
type SendStream interface {
	// Write queues p, waiting for flow control credit. A STOP_SENDING from the
	// peer ends it with a *StreamError.
	Write(p []byte) (int, error)
	// TryWrite queues all of p or, with ErrNoCredit, none of it. It never waits
	// and does not keep p.
	TryWrite(p []byte) error
	// Close says FIN after everything written. Not after Reset.
	Close() error
	// Reset abandons the stream; what the peer has not got yet may never reach it.
	Reset(code StreamCode)
	// SetPriority ranks this stream among those of its connection: 0 is sent
	// first, 7 last. Transports without priorities ignore it.
	SetPriority(urgency int8)
}

// ReceiveStream is the receiving half of a stream. One goroutine reads at a time.
type ReceiveStream interface {
	// Read returns io.EOF after FIN and a *StreamError after a reset.
	Read(p []byte) (int, error)
	// Stop asks the peer to stop sending, and drops what comes.
	Stop(code StreamCode)
	SetReadDeadline(t time.Time) error
}

// Stream is a bidirectional stream.
type Stream interface {
	SendStream
	ReceiveStream
}

// Stats is what a transport knows of its path. Zero fields are unknown.
type Stats struct {
	RTT           time.Duration // smoothed
	MinRTT        time.Duration
	SendRate      uint64 // bit/s the congestion controller allows now; 0 = unknown
	BytesSent     uint64
	BytesReceived uint64
	PacketsSent   uint64
	PacketsLost   uint64
}

var (
	// ErrNoCredit says that the peer's stream or data credit is used up for now.
	ErrNoCredit = errors.New("no flow control credit")
	// ErrDatagramDropped says that a datagram was not queued.
	ErrDatagramDropped = errors.New("datagram dropped")
)

// StreamError is a reset or stop of one stream.
type StreamError struct {
	Code StreamCode
	// Coded is false where the peer's code was outside the MoQ range (a plain
	// QUIC code): treat it as cancelled.
	Coded  bool
	Remote bool // the peer did it
}

func (e *StreamError) Error() string {
	who := "local"
	if e.Remote {
		who = "peer"
	}
	return fmt.Sprintf("stream reset by %s: %s", who, e.Code)
}

// CloseError is the end of a session with a MoQ session code.
type CloseError struct {
	Code   SessionCode
	Reason string
	Remote bool // the peer closed
}

func (e *CloseError) Error() string {
	who := "local"
	if e.Remote {
		who = "peer"
	}
	if e.Reason == "" {
		return fmt.Sprintf("session closed by %s: %s", who, e.Code)
	}
	return fmt.Sprintf("session closed by %s: %s (%s)", who, e.Code, e.Reason)
}

// LostError is the end of a connection for which neither side gave a session code.
type LostError struct {
	Idle bool  // nothing came from the peer for the idle timeout
	Err  error // the transport's own
}

func (e *LostError) Error() string {
	if e.Idle {
		return "idle timeout"
	}
	return "connection lost: " + e.Err.Error()
}

func (e *LostError) Unwrap() error { return e.Err }
