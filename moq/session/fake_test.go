package session_test

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moqmesh/moqmesh/moq/session"
)

// fakeWindow is how much one stream of a fakeConn holds that was not read.
const fakeWindow = 256 << 10

// fakeConn is one end of a connection in memory. It works in a synctest bubble:
// all its waiting is on channels.
type fakeConn struct {
	peer   *fakeConn
	ctx    context.Context
	cancel context.CancelCauseFunc

	touched atomic.Int64 // how often it was asked or given anything

	mu       sync.Mutex // guards what follows, and the streams we opened
	changed  chan struct{}
	bidi     []session.Stream        // opened by the peer, not accepted yet
	uni      []session.ReceiveStream // likewise
	grams    [][]byte
	window   int // of each stream that we open from now on; bytes
	noUni    bool
	noBidi   bool
	sent     uint64
	rtt      time.Duration
	sendRate uint64
	opened   []*fakeStream // unidirectional streams that we opened
}

// newFakeConns returns both ends of a connection.
func newFakeConns() (client, server *fakeConn) {
	client, server = newFakeConn(), newFakeConn()
	client.peer, server.peer = server, client
	return client, server
}

func newFakeConn() *fakeConn {
	c := &fakeConn{changed: make(chan struct{}), window: fakeWindow}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	return c
}

// change makes a change that others may wait for.
func (c *fakeConn) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	close(c.changed)
	c.changed = make(chan struct{})
}

// await waits until ready, called with the lock held, says so.
func (c *fakeConn) await(ctx context.Context, ready func() bool) error {
	for {
		c.mu.Lock()
		if ready() {
			c.mu.Unlock()
			return nil
		}
		changed := c.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.ctx.Done():
			return context.Cause(c.ctx)
		}
	}
}

func (c *fakeConn) OpenStream(ctx context.Context) (session.Stream, error) {
	if err := c.await(ctx, func() bool { return !c.noBidi }); err != nil {
		return nil, err
	}
	there, back := c.newStream(), c.peer.newStream()
	c.peer.change(func() { c.peer.bidi = append(c.peer.bidi, &fakeBidi{back, receiver{there}}) })
	return &fakeBidi{there, receiver{back}}, nil
}

func (c *fakeConn) OpenUniStream() (session.SendStream, error) {
	c.mu.Lock()
	none := c.noUni
	c.mu.Unlock()
	if err := context.Cause(c.ctx); err != nil {
		return nil, err
	}
	if none {
		return nil, session.ErrNoCredit
	}
	s := c.newStream()
	c.mu.Lock()
	c.opened = append(c.opened, s)
	c.mu.Unlock()
	c.peer.change(func() { c.peer.uni = append(c.peer.uni, receiver{s}) })
	return s, nil
}

func (c *fakeConn) newStream() *fakeStream {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &fakeStream{c: c, window: c.window, changed: make(chan struct{})}
}

func (c *fakeConn) AcceptStream(ctx context.Context) (s session.Stream, err error) {
	err = c.await(ctx, func() bool {
		if len(c.bidi) == 0 {
			return false
		}
		s, c.bidi = c.bidi[0], c.bidi[1:]
		return true
	})
	return s, err
}

func (c *fakeConn) AcceptUniStream(ctx context.Context) (s session.ReceiveStream, err error) {
	err = c.await(ctx, func() bool {
		if len(c.uni) == 0 {
			return false
		}
		s, c.uni = c.uni[0], c.uni[1:]
		return true
	})
	return s, err
}

func (c *fakeConn) SendDatagram(p []byte) error {
	dropped := false
	c.peer.change(func() {
		if dropped = len(c.peer.grams) >= 128; !dropped {
			c.peer.grams = append(c.peer.grams, append([]byte(nil), p...))
		}
	})
	if dropped {
		return session.ErrDatagramDropped
	}
	return nil
}

func (c *fakeConn) ReceiveDatagram(ctx context.Context) (p []byte, err error) {
	err = c.await(ctx, func() bool {
		if len(c.grams) == 0 {
			return false
		}
		p, c.grams = c.grams[0], c.grams[1:]
		return true
	})
	return p, err
}

func (c *fakeConn) Close(code session.SessionCode, reason string) {
	c.cancel(&session.CloseError{Code: code, Reason: reason})
	c.peer.cancel(&session.CloseError{Code: code, Reason: reason, Remote: true})
}

func (c *fakeConn) Context() context.Context { return c.ctx }

func (c *fakeConn) Stats() session.Stats {
	c.touched.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	return session.Stats{BytesSent: c.sent, RTT: c.rtt, SendRate: c.sendRate}
}

func (c *fakeConn) LocalAddr() net.Addr  { return &net.UnixAddr{Name: "fake"} }
func (c *fakeConn) RemoteAddr() net.Addr { return &net.UnixAddr{Name: "fake"} }

// fakeStream is one direction of a stream.
type fakeStream struct {
	c *fakeConn // of the sender

	mu       sync.Mutex
	changed  chan struct{}
	window   int
	buf      []byte // sent and not read
	fin      bool
	reset    *session.StreamCode
	stopped  *session.StreamCode
	deadline time.Time
	urgency  int8
}

func (s *fakeStream) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

// wait gives up the lock until something changes or the deadline passes.
func (s *fakeStream) wait(deadline time.Time) {
	changed := s.changed
	s.mu.Unlock()
	defer s.mu.Lock()
	var late <-chan time.Time
	if !deadline.IsZero() {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-changed:
	case <-late:
	case <-s.c.ctx.Done():
	}
}

func (s *fakeStream) writable() error {
	switch {
	case context.Cause(s.c.ctx) != nil:
		return context.Cause(s.c.ctx)
	case s.reset != nil:
		return &session.StreamError{Code: *s.reset, Coded: true}
	case s.stopped != nil:
		return &session.StreamError{Code: *s.stopped, Coded: true, Remote: true}
	case s.fin:
		return io.ErrClosedPipe
	}
	return nil
}

func (s *fakeStream) put(p []byte) {
	s.c.touched.Add(1)
	s.buf = append(s.buf, p...)
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *fakeStream) Write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if err := s.writable(); err != nil {
			return n, err
		}
		take := min(s.window-len(s.buf), len(p))
		if take > 0 {
			s.put(p[:take])
			p, n = p[take:], n+take
		}
		if len(p) == 0 {
			return n, nil
		}
		s.wait(time.Time{})
	}
}

func (s *fakeStream) TryWrite(p []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable(); err != nil {
		return err
	}
	if len(p) > s.window-len(s.buf) {
		return session.ErrNoCredit
	}
	s.put(p)
	return nil
}

func (s *fakeStream) Close() error {
	s.change(func() { s.fin = s.reset == nil })
	return nil
}

func (s *fakeStream) Reset(code session.StreamCode) {
	s.change(func() {
		if s.reset == nil && !(s.fin && len(s.buf) == 0) {
			s.reset, s.buf, s.fin = &code, nil, false
		}
	})
}

func (s *fakeStream) SetPriority(urgency int8) { s.change(func() { s.urgency = urgency }) }

// receiver is the reading end of a fakeStream.
type receiver struct{ s *fakeStream }

func (r receiver) Read(p []byte) (int, error) {
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.stopped != nil:
			return 0, &session.StreamError{Code: *s.stopped, Coded: true}
		case s.reset != nil:
			return 0, &session.StreamError{Code: *s.reset, Coded: true, Remote: true}
		case len(s.buf) > 0:
			return r.take(p), nil
		case s.fin:
			return 0, io.EOF
		case context.Cause(s.c.ctx) != nil:
			return 0, context.Cause(s.c.peer.ctx)
		case !s.deadline.IsZero() && !time.Now().Before(s.deadline):
			return 0, os.ErrDeadlineExceeded
		}
		s.wait(s.deadline)
	}
}

func (r receiver) take(p []byte) int {
	s := r.s
	n := copy(p, s.buf)
	s.buf = s.buf[n:]
	close(s.changed)
	s.changed = make(chan struct{})
	s.c.mu.Lock()
	s.c.sent += uint64(n)
	s.c.mu.Unlock()
	return n
}

func (r receiver) Stop(code session.StreamCode) {
	r.s.change(func() {
		if r.s.stopped == nil && r.s.reset == nil && !(r.s.fin && len(r.s.buf) == 0) {
			r.s.stopped, r.s.buf = &code, nil
		}
	})
}

func (r receiver) SetReadDeadline(t time.Time) error {
	r.s.change(func() { r.s.deadline = t })
	return nil
}

type fakeBidi struct {
	*fakeStream
	receiver
}
