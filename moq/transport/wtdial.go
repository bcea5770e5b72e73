package transport

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/dunglas/httpsfv"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/quicvarint"

	"github.com/moqmesh/moqmesh/moq/session"
)

// Settings of HTTP/3 that say "WebTransport" in the drafts that servers follow.
const (
	settingWebTransport        = 0x2b603742
	settingMaxSessions         = 0xc671706a
	settingMaxSessionsLater    = 0x2b603743
	bidiStreamType             = 0x41
	closeSession               = 0x2843 // capsule type
	maxCapsule                 = 64 << 10
	requestCancelled           = quic.StreamErrorCode(http3.ErrCodeRequestCanceled)
	protocolsHeader            = "WT-Available-Protocols"
	protocolHeader             = "WT-Protocol"
	webTransportConnectRequest = "webtransport"
)

// wtDialled is a WebTransport session that we dialled, the only one of its
// connection. webtransport-go's client insists on an extension that the Rust
// relay does not have, so this speaks to quic-go's HTTP/3 itself.
type wtDialled struct {
	c     *quic.Conn
	h3    *http3.RawClientConn
	req   *http3.RequestStream
	id    uint64
	bidi  chan session.Stream
	uni   chan session.ReceiveStream
	ctx   context.Context
	end   context.CancelCauseFunc
	grams *datagramSender
	once  sync.Once
}

// StatusError is a server's refusal of a WebTransport session.
type StatusError struct {
	Status int // of the HTTP response
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("server refused WebTransport: %d %s", e.Status, http.StatusText(e.Status))
}

// connect asks for a WebTransport session on a new HTTP/3 connection.
func connect(ctx context.Context, c *quic.Conn, u *url.URL, alpns []string) (*Dialled, error) {
	tr := &http3.Transport{EnableDatagrams: true, AdditionalSettings: map[uint64]uint64{
		settingWebTransport: 1, settingMaxSessions: 1, settingMaxSessionsLater: 1,
	}}
	w := &wtDialled{
		c: c, h3: tr.NewRawClientConn(c),
		bidi: make(chan session.Stream), uni: make(chan session.ReceiveStream),
	}
	w.ctx, w.end = context.WithCancelCause(context.WithoutCancel(ctx))
	context.AfterFunc(c.Context(), func() { w.end(connEnd(context.Cause(c.Context()))) })
	go w.acceptBidi()
	go w.acceptUni()
	alpn, err := w.request(ctx, u, alpns)
	if err != nil {
		c.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "")
		return nil, err
	}
	w.grams = newDatagramSender(gramStream{w})
	go w.readCapsules()
	return &Dialled{Conn: w, Transport: "webtransport", ALPN: version(alpn)}, nil
}

// request sends CONNECT and returns the version that the server chose.
func (w *wtDialled) request(ctx context.Context, u *url.URL, alpns []string) (alpn string, err error) {
	select {
	case <-w.h3.ReceivedSettings():
	case <-w.ctx.Done():
		return "", context.Cause(w.ctx)
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if s := w.h3.Settings(); !s.EnableExtendedConnect || !s.EnableDatagrams {
		return "", errors.New("the server does not speak WebTransport")
	}
	header, err := offer(alpns)
	if err != nil {
		return "", err
	}
	if w.req, err = w.h3.OpenRequestStream(ctx); err != nil {
		return "", err
	}
	stop := context.AfterFunc(ctx, func() { w.req.CancelRead(requestCancelled) })
	defer stop()
	req := (&http.Request{Method: http.MethodConnect, Proto: webTransportConnectRequest, Host: u.Host, URL: u, Header: header}).WithContext(ctx)
	if err := w.req.SendRequestHeader(req); err != nil {
		return "", err
	}
	res, err := w.req.ReadResponse()
	if err != nil {
		return "", err
	}
	if res.StatusCode != http.StatusOK {
		return "", &StatusError{Status: res.StatusCode}
	}
	w.id = uint64(w.req.StreamID())
	return chosen(res.Header)
}

func offer(alpns []string) (http.Header, error) {
	var list httpsfv.List
	for _, alpn := range alpns {
		list = append(list, httpsfv.NewItem(alpn))
	}
	text, err := httpsfv.Marshal(list)
	return http.Header{protocolsHeader: {text}}, err
}

// chosen reads the server's choice; empty: SETUP decides.
func chosen(h http.Header) (string, error) {
	values := h.Values(protocolHeader)
	if len(values) == 0 {
		return "", nil
	}
	item, err := httpsfv.UnmarshalItem(values)
	if err != nil {
		return "", fmt.Errorf("%s header: %w", protocolHeader, err)
	}
	alpn, _ := item.Value.(string)
	return alpn, nil
}

func (w *wtDialled) acceptBidi() {
	for {
		s, err := w.c.AcceptStream(w.ctx)
		if err != nil {
			return
		}
		go func() {
			if ok := readHeader(s, bidiStreamType, func() { w.h3.HandleBidirectionalStream(s) }); ok {
				hand(w.ctx, w.bidi, session.Stream(bidiStream{s: s}))
			}
		}()
	}
}

func (w *wtDialled) acceptUni() {
	for {
		s, err := w.c.AcceptUniStream(w.ctx)
		if err != nil {
			return
		}
		go func() {
			if ok := readHeader(s, uniStreamType, func() { w.h3.HandleUnidirectionalStream(s) }); ok {
				hand(w.ctx, w.uni, session.ReceiveStream(receiveStream{s}))
			}
		}()
	}
}

// readHeader takes a WebTransport stream's header off; another kind of stream
// goes to other.
func readHeader(s quicvarint.Peeker, kind uint64, other func()) (ok bool) {
	t, err := quicvarint.Peek(s)
	if err != nil {
		return false
	}
	if t != kind {
		other()
		return false
	}
	r := quicvarint.NewReader(s.(io.Reader))
	if _, err = quicvarint.Read(r); err == nil {
		_, err = quicvarint.Read(r) // the session id: there is one session
	}
	return err == nil
}

func hand[T any](ctx context.Context, to chan<- T, v T) {
	select {
	case to <- v:
	case <-ctx.Done():
	}
}

// readCapsules waits for the server to close the session.
func (w *wtDialled) readCapsules() {
	w.end(connEnd(w.readClose()))
	w.c.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "")
}

func (w *wtDialled) readClose() error {
	r := quicvarint.NewReader(w.req)
	for {
		kind, err := quicvarint.Read(r)
		if err == io.EOF {
			return &session.CloseError{Remote: true} // as if it had said code 0
		}
		if err != nil {
			return fmt.Errorf("session stream: %w", streamError(err))
		}
		n, err := quicvarint.Read(r)
		if err != nil || n > maxCapsule {
			return errors.New("session stream: malformed capsule")
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(r, body); err != nil {
			return fmt.Errorf("session stream: %w", err)
		}
		if kind == closeSession && n >= 4 {
			code := binary.BigEndian.Uint32(body)
			return &session.CloseError{Code: session.SessionCode(code), Reason: string(body[4:]), Remote: true}
		}
	}
}

func (w *wtDialled) OpenStream(ctx context.Context) (session.Stream, error) {
	s, err := w.c.OpenStreamSync(ctx)
	if err != nil {
		return nil, closeError(err)
	}
	if _, err := s.Write(streamHead(bidiStreamType, w.id)); err != nil {
		return nil, streamError(err)
	}
	return bidiStream{s: s}, nil
}

func streamHead(kind, id uint64) []byte {
	return quicvarint.Append(quicvarint.Append(nil, kind), id)
}

func (w *wtDialled) OpenUniStream() (session.SendStream, error) {
	s, err := openUni(w.c)
	if err != nil {
		return nil, err
	}
	return &sendStream{s: s, head: streamHead(uniStreamType, w.id)}, nil
}

func (w *wtDialled) AcceptStream(ctx context.Context) (session.Stream, error) {
	return take(ctx, w.ctx, w.bidi)
}

func (w *wtDialled) AcceptUniStream(ctx context.Context) (session.ReceiveStream, error) {
	return take(ctx, w.ctx, w.uni)
}

func take[T any](ctx, conn context.Context, from <-chan T) (v T, err error) {
	select {
	case v = <-from:
		return v, nil
	case <-conn.Done():
		return v, context.Cause(conn)
	case <-ctx.Done():
		return v, context.Cause(ctx)
	}
}

func (w *wtDialled) SendDatagram(p []byte) error { return w.grams.send(p) }

// gramStream sends what the queue holds.
type gramStream struct{ w *wtDialled }

func (g gramStream) SendDatagram(p []byte) error { return g.w.req.SendDatagram(p) }
func (g gramStream) Context() context.Context    { return g.w.ctx }

func (w *wtDialled) ReceiveDatagram(ctx context.Context) ([]byte, error) {
	b, err := w.req.ReceiveDatagram(ctx)
	return b, closeError(err)
}

// Close says the code in a capsule, and takes the connection down when the
// capsule has had the time to arrive.
func (w *wtDialled) Close(code session.SessionCode, reason string) {
	w.once.Do(func() {
		w.req.SetWriteDeadline(time.Now().Add(flushTime))
		w.req.Write(closeCapsule(code, reason))
		w.req.Close()
		w.end(&session.CloseError{Code: code, Reason: reason})
		time.AfterFunc(flushTime/4, func() {
			w.c.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "")
		})
	})
}

func (w *wtDialled) Context() context.Context { return w.ctx }
func (w *wtDialled) LocalAddr() net.Addr      { return w.c.LocalAddr() }
func (w *wtDialled) RemoteAddr() net.Addr     { return w.c.RemoteAddr() }
func (w *wtDialled) Stats() session.Stats     { return quicStats(w.c) }
