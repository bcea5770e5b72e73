package transport

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/quicvarint"
	"github.com/quic-go/webtransport-go"

	"github.com/moqmesh/moqmesh/moq/session"
)

// wtConn is a WebTransport session that a peer dialled, as a session.Conn. Its unidirectional streams
// are opened on the QUIC connection itself, with WebTransport's header in front:
// that gives them quic-go's priorities and non-blocking writes, which
// webtransport-go does not pass on. It is right as long as neither side turned
// WebTransport's own flow control on, which we never do.
type wtConn struct {
	wt    *webtransport.Session
	c     *quic.Conn
	str   *http3.Stream // of the CONNECT request
	head  []byte        // of a unidirectional stream
	ctx   context.Context
	end   context.CancelCauseFunc
	grams *datagramSender
	once  sync.Once
}

// uniStreamType begins a unidirectional WebTransport stream (moq-lite.md §2.3).
const uniStreamType = 0x54

func newWTConn(wt *webtransport.Session, c *quic.Conn, sessionID uint64, str *http3.Stream) *wtConn {
	head := streamHead(uniStreamType, sessionID)
	w := &wtConn{wt: wt, c: c, str: str, head: head, grams: newDatagramSender(wt)}
	w.ctx, w.end = context.WithCancelCause(context.WithoutCancel(wt.Context()))
	context.AfterFunc(wt.Context(), func() { w.end(w.cause()) })
	context.AfterFunc(c.Context(), func() { w.end(connEnd(context.Cause(c.Context()))) })
	return w
}

// cause is why the WebTransport session ended: a close, or what has become of the
// connection below, which it learns first and does not tell.
func (w *wtConn) cause() error {
	_, err := w.wt.OpenUniStream() // its only way to say so
	var closed *webtransport.SessionError
	if errors.As(err, &closed) {
		return connEnd(err)
	}
	timer := time.NewTimer(flushTime / 4) // the connection is about to end, or it lives
	defer timer.Stop()
	select {
	case <-w.c.Context().Done():
		return connEnd(context.Cause(w.c.Context()))
	case <-timer.C:
		return connEnd(err)
	}
}

// failure is why a call on the session failed: ctx has ended, or the session has or
// is about to.
func (w *wtConn) failure(ctx context.Context) error {
	select {
	case <-w.ctx.Done():
		return context.Cause(w.ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (w *wtConn) OpenStream(ctx context.Context) (session.Stream, error) {
	s, err := w.wt.OpenStreamSync(ctx)
	if err != nil {
		return nil, w.failure(ctx)
	}
	return wtStream{s}, nil
}

func (w *wtConn) OpenUniStream() (session.SendStream, error) {
	if w.ctx.Err() != nil {
		return nil, context.Cause(w.ctx)
	}
	s, err := openUni(w.c)
	if err != nil {
		return nil, err
	}
	return &sendStream{s: s, head: w.head}, nil
}

func (w *wtConn) AcceptStream(ctx context.Context) (session.Stream, error) {
	s, err := w.wt.AcceptStream(ctx)
	if err != nil {
		return nil, w.failure(ctx)
	}
	return wtStream{s}, nil
}

func (w *wtConn) AcceptUniStream(ctx context.Context) (session.ReceiveStream, error) {
	s, err := w.wt.AcceptUniStream(ctx)
	if err != nil {
		return nil, w.failure(ctx)
	}
	return wtReceiveStream{s}, nil
}

func (w *wtConn) SendDatagram(p []byte) error { return w.grams.send(p) }

func (w *wtConn) ReceiveDatagram(ctx context.Context) ([]byte, error) {
	b, err := w.wt.ReceiveDatagram(ctx)
	if err != nil {
		return nil, w.failure(ctx)
	}
	return b, nil
}

// Close says the code in a capsule. We write it ourselves and let it be read before the session is taken down: Chromium reports only
// "Connection lost" when STOP_SENDING comes with the capsule.
func (w *wtConn) Close(code session.SessionCode, reason string) {
	w.once.Do(func() {
		err := &session.CloseError{Code: code, Reason: reason}
		w.str.SetWriteDeadline(time.Now().Add(flushTime))
		w.str.Write(closeCapsule(code, reason))
		w.str.Close()
		w.end(err)
		go w.takeDown(code, reason)
	})
}

// takeDown ends the session and its connection after flushTime. It waits for
// nothing but time and the connection.
func (w *wtConn) takeDown(code session.SessionCode, reason string) {
	timer := time.NewTimer(flushTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.c.Context().Done():
		return
	}
	w.wt.CloseWithError(webtransport.SessionErrorCode(code), reason)
	w.c.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "")
}

// maxCloseReason is the longest reason a close capsule carries.
const maxCloseReason = 1024

// closeCapsule is CLOSE_WEBTRANSPORT_SESSION.
func closeCapsule(code session.SessionCode, reason string) []byte {
	reason = reason[:min(len(reason), maxCloseReason)]
	b := quicvarint.Append(nil, closeSession)
	b = quicvarint.Append(b, uint64(4+len(reason)))
	b = binary.BigEndian.AppendUint32(b, uint32(code))
	return append(b, reason...)
}

func (w *wtConn) Context() context.Context { return w.ctx }
func (w *wtConn) LocalAddr() net.Addr      { return w.c.LocalAddr() }
func (w *wtConn) RemoteAddr() net.Addr     { return w.c.RemoteAddr() }
func (w *wtConn) Stats() session.Stats     { return quicStats(w.c) }
