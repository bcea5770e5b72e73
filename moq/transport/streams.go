package transport

import (
	"errors"
	"io"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/webtransport-go"

	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire"
)

// quicCode maps a MoQ stream code into the range that WebTransport uses, on raw
// QUIC too (moq-lite.md §2.4).
func quicCode(code session.StreamCode) quic.StreamErrorCode {
	return quic.StreamErrorCode(wire.MapStreamCode(uint32(code)))
}

// streamError says a stream's end in MoQ terms.
func streamError(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	var q *quic.StreamError
	if errors.As(err, &q) {
		code, ok := wire.UnmapStreamCode(uint64(q.ErrorCode))
		return &session.StreamError{Code: session.StreamCode(code), Coded: ok, Remote: q.Remote}
	}
	var w *webtransport.StreamError
	if errors.As(err, &w) {
		return &session.StreamError{Code: session.StreamCode(w.ErrorCode), Coded: true, Remote: w.Remote}
	}
	return closeError(err)
}

// sendStream is the sending half of a QUIC stream. On WebTransport a
// unidirectional stream of ours begins with a header, which waits in head to
// share the packet of the first bytes.
type sendStream struct {
	s    *quic.SendStream
	head []byte
}

func (s *sendStream) Write(p []byte) (int, error) {
	if len(s.head) > 0 {
		if _, err := s.s.Write(s.head); err != nil {
			return 0, streamError(err)
		}
		s.head = nil
	}
	n, err := s.s.Write(p)
	return n, streamError(err)
}

// maxTry is the most that TryWrite takes while a header waits.
const maxTry = 1452

func (s *sendStream) TryWrite(p []byte) error {
	if len(s.head) == 0 {
		return tryError(s.s.TryWriteAll(p))
	}
	if len(s.head)+len(p) > maxTry {
		return session.ErrNoCredit
	}
	var b [maxTry]byte
	n := copy(b[:], s.head)
	n += copy(b[n:], p)
	err := s.s.TryWriteAll(b[:n])
	if err == nil {
		s.head = nil
	}
	return tryError(err)
}

func tryError(err error) error {
	if errors.Is(err, quic.ErrWouldBlock) {
		return session.ErrNoCredit
	}
	return streamError(err)
}

func (s *sendStream) Close() error {
	if len(s.head) > 0 {
		if _, err := s.Write(nil); err != nil {
			return err
		}
	}
	return s.s.Close()
}

func (s *sendStream) Reset(code session.StreamCode) { s.s.CancelWrite(quicCode(code)) }
func (s *sendStream) SetPriority(urgency int8)      { s.s.SetPriority(urgency, true) }

// receiveStream is the receiving half of a raw QUIC stream.
type receiveStream struct{ s *quic.ReceiveStream }

func (s receiveStream) Read(p []byte) (int, error) {
	n, err := s.s.Read(p)
	return n, streamError(err)
}

func (s receiveStream) Stop(code session.StreamCode)      { s.s.CancelRead(quicCode(code)) }
func (s receiveStream) SetReadDeadline(t time.Time) error { return s.s.SetReadDeadline(t) }

// bidiStream is a raw QUIC stream.
type bidiStream struct{ s *quic.Stream }

func (s bidiStream) Read(p []byte) (int, error) {
	n, err := s.s.Read(p)
	return n, streamError(err)
}

func (s bidiStream) Write(p []byte) (int, error) {
	n, err := s.s.Write(p)
	return n, streamError(err)
}

func (s bidiStream) TryWrite(p []byte) error           { return tryError(s.s.TryWriteAll(p)) }
func (s bidiStream) Close() error                      { return s.s.Close() }
func (s bidiStream) Reset(code session.StreamCode)     { s.s.CancelWrite(quicCode(code)) }
func (s bidiStream) Stop(code session.StreamCode)      { s.s.CancelRead(quicCode(code)) }
func (s bidiStream) SetPriority(urgency int8)          { s.s.SetPriority(urgency, true) }
func (s bidiStream) SetReadDeadline(t time.Time) error { return s.s.SetReadDeadline(t) }

// wtReceiveStream is a WebTransport stream of the peer.
type wtReceiveStream struct{ s *webtransport.ReceiveStream }

func (s wtReceiveStream) Read(p []byte) (int, error) {
	n, err := s.s.Read(p)
	return n, streamError(err)
}

func (s wtReceiveStream) Stop(code session.StreamCode) {
	s.s.CancelRead(webtransport.StreamErrorCode(code))
}
func (s wtReceiveStream) SetReadDeadline(t time.Time) error { return s.s.SetReadDeadline(t) }

// wtStream is a bidirectional WebTransport stream.
type wtStream struct{ s *webtransport.Stream }

func (s wtStream) Read(p []byte) (int, error) {
	n, err := s.s.Read(p)
	return n, streamError(err)
}

func (s wtStream) Write(p []byte) (int, error) {
	n, err := s.s.Write(p)
	return n, streamError(err)
}

// TryWrite takes what fits the stream's packet buffer: quic-go keeps that much
// of any stream without waiting. webtransport-go has no TryWriteAll.
func (s wtStream) TryWrite(p []byte) error {
	if len(p) > maxTry/2 {
		return session.ErrNoCredit
	}
	_, err := s.s.Write(p)
	return streamError(err)
}

func (s wtStream) Close() error { return s.s.Close() }
func (s wtStream) Reset(code session.StreamCode) {
	s.s.CancelWrite(webtransport.StreamErrorCode(code))
}
func (s wtStream) Stop(code session.StreamCode) {
	s.s.CancelRead(webtransport.StreamErrorCode(code))
}
func (s wtStream) SetPriority(int8)                  {} // not offered by webtransport-go
func (s wtStream) SetReadDeadline(t time.Time) error { return s.s.SetReadDeadline(t) }
