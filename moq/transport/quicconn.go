package transport

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/webtransport-go"

	"github.com/moqmesh/moqmesh/moq/session"
)

// quicConn is a raw QUIC connection as a session.Conn.
type quicConn struct {
	c     *quic.Conn
	ctx   context.Context
	grams *datagramSender
}

func newQUICConn(c *quic.Conn) *quicConn {
	return &quicConn{c: c, ctx: closeContext(c.Context()), grams: newDatagramSender(c)}
}

// closeContext follows ctx, saying its cause in MoQ terms.
func closeContext(ctx context.Context) context.Context {
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { cancel(connEnd(context.Cause(ctx))) })
	return out
}

// connEnd says why a connection has ended in MoQ terms.
func connEnd(cause error) error {
	var (
		err    = closeError(cause)
		closed *session.CloseError
		lost   *session.LostError
	)
	switch {
	case errors.As(err, &closed):
		return closed
	case errors.As(err, &lost):
		return lost
	}
	return &session.LostError{Err: err}
}

// closeError says in MoQ terms what is the end of the connection, and leaves other
// errors as they are.
func closeError(err error) error {
	var (
		app     *quic.ApplicationError
		wt      *webtransport.SessionError
		idle    *quic.IdleTimeoutError
		broken  *quic.TransportError
		reset   *quic.StatelessResetError
		unheard *quic.HandshakeTimeoutError
	)
	switch {
	case errors.As(err, &app):
		return &session.CloseError{Code: session.SessionCode(app.ErrorCode), Reason: app.ErrorMessage, Remote: app.Remote}
	case errors.As(err, &wt):
		return &session.CloseError{Code: session.SessionCode(wt.ErrorCode), Reason: wt.Message, Remote: wt.Remote}
	case errors.As(err, &idle):
		return &session.LostError{Idle: true, Err: err}
	case errors.As(err, &broken), errors.As(err, &reset), errors.As(err, &unheard), errors.Is(err, quic.ErrTransportClosed):
		return &session.LostError{Err: err}
	}
	return err
}

func (c *quicConn) OpenStream(ctx context.Context) (session.Stream, error) {
	s, err := c.c.OpenStreamSync(ctx)
	if err != nil {
		return nil, closeError(err)
	}
	return bidiStream{s}, nil
}

func (c *quicConn) OpenUniStream() (session.SendStream, error) {
	s, err := openUni(c.c)
	if err != nil {
		return nil, err
	}
	return &sendStream{s: s}, nil
}

func openUni(c *quic.Conn) (*quic.SendStream, error) {
	s, err := c.OpenUniStream()
	var limit *quic.StreamLimitReachedError
	if errors.As(err, &limit) {
		return nil, session.ErrNoCredit
	}
	return s, closeError(err)
}

func (c *quicConn) AcceptStream(ctx context.Context) (session.Stream, error) {
	s, err := c.c.AcceptStream(ctx)
	if err != nil {
		return nil, closeError(err)
	}
	return bidiStream{s}, nil
}

func (c *quicConn) AcceptUniStream(ctx context.Context) (session.ReceiveStream, error) {
	s, err := c.c.AcceptUniStream(ctx)
	if err != nil {
		return nil, closeError(err)
	}
	return receiveStream{s}, nil
}

func (c *quicConn) SendDatagram(p []byte) error { return c.grams.send(p) }

func (c *quicConn) ReceiveDatagram(ctx context.Context) ([]byte, error) {
	b, err := c.c.ReceiveDatagram(ctx)
	return b, closeError(err)
}

func (c *quicConn) Close(code session.SessionCode, reason string) {
	c.c.CloseWithError(quic.ApplicationErrorCode(code), reason)
}

func (c *quicConn) Context() context.Context { return c.ctx }
func (c *quicConn) LocalAddr() net.Addr      { return c.c.LocalAddr() }
func (c *quicConn) RemoteAddr() net.Addr     { return c.c.RemoteAddr() }
func (c *quicConn) Stats() session.Stats     { return quicStats(c.c) }

func quicStats(c *quic.Conn) session.Stats {
	q := c.ConnectionStats()
	s := session.Stats{
		RTT: q.SmoothedRTT, MinRTT: q.MinRTT,
		BytesSent: q.BytesSent, BytesReceived: q.BytesReceived,
		PacketsSent: q.PacketsSent, PacketsLost: q.PacketsLost,
	}
	if q.SmoothedRTT > 0 {
		s.SendRate = uint64(float64(q.CongestionWindow) * 8 / q.SmoothedRTT.Seconds())
	}
	return s
}

// datagramQueue is how many datagrams wait for the connection before new ones
// are dropped.
const datagramQueue = 64

// datagramSender keeps callers from waiting: quic-go's SendDatagram blocks when
// its queue is full. Its goroutine starts with the first datagram and ends with
// the connection.
type datagramSender struct {
	c interface {
		SendDatagram([]byte) error
		Context() context.Context
	}
	queue chan []byte
	start chan struct{} // has a token until the goroutine runs
}

func newDatagramSender(c interface {
	SendDatagram([]byte) error
	Context() context.Context
}) *datagramSender {
	d := &datagramSender{c: c, queue: make(chan []byte, datagramQueue), start: make(chan struct{}, 1)}
	d.start <- struct{}{}
	return d
}

// maxDatagram bounds what is queued; the path mostly takes less.
const maxDatagram = 1400

func (d *datagramSender) send(p []byte) error {
	if len(p) > maxDatagram {
		return session.ErrDatagramDropped
	}
	select {
	case <-d.start:
		go d.run()
	default:
	}
	select {
	case d.queue <- p:
		return nil
	default:
		return session.ErrDatagramDropped
	}
}

func (d *datagramSender) run() {
	for {
		select {
		case p := <-d.queue:
			d.c.SendDatagram(p) // what the path does not take is lost, as datagrams are
		case <-d.c.Context().Done():
			return
		}
	}
}

// flushTime is how long a closed connection stays to let its last words out.
const flushTime = time.Second
