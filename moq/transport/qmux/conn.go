package qmux

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moqmesh/moqmesh/moq/session"
	wire "github.com/moqmesh/moqmesh/moq/wire/qmux"
)

// Conn is one qmux connection, a [session.Conn]. Its methods may be called
// from any goroutine.
type Conn struct {
	pipe  Pipe
	cfg   Config
	ctx   context.Context
	end   context.CancelCauseFunc
	ready chan struct{} // closed once the peer's parameters are in

	work chan struct{} // the writer has something to do
	tend chan struct{} // the timekeeper's deadlines changed

	acceptBidi chan *stream
	acceptUni  chan *recvStream
	datagrams  chan []byte

	bytesSent, bytesReceived, datagramsDropped atomic.Uint64

	mu sync.Mutex // guards all below, and the streams

	ended bool
	last  *wire.Close // to be sent before the end

	peer    *wire.Parameters // nil until they come
	live    liveness
	pongDue bool // an answer to the ping pongSeq is to be sent
	pongSeq uint64
	pingDue bool

	sends map[uint64]*sendStream
	recvs map[uint64]*recvStream

	opened    [2]uint64     // streams we opened
	openLimit [2]uint64     // streams we may open
	openWait  chan struct{} // closed when it may be worth trying again; nil if nobody waits

	peerOpened [2]uint64 // streams the peer opened
	peerLimit  [2]uint64 // streams the peer may open
	freed      [2]uint64 // slots to be granted again

	credit   sendCredit // of the whole connection
	window   recvWindow
	queued   int // bytes queued on all streams
	schedule schedule
	writable sync.Cond // credit, queue space, or the end of a stream or the connection

	announced bool // our parameters are sent
	stops     []*recvStream
	resets    []*sendStream
	grants    []*recvStream
	outbox    [][]byte // datagrams
}

var _ session.Conn = (*Conn)(nil)

// New returns a connection over pipe, which it owns from now on. Nothing moves
// until Run.
func New(pipe Pipe, cfg Config) *Conn {
	cfg = cfg.withDefaults()
	c := &Conn{
		pipe:       pipe,
		cfg:        cfg,
		ready:      make(chan struct{}),
		work:       make(chan struct{}, 1),
		tend:       make(chan struct{}, 1),
		acceptBidi: make(chan *stream, cfg.MaxStreams),
		acceptUni:  make(chan *recvStream, cfg.MaxUniStreams),
		datagrams:  make(chan []byte, maxDatagrams),
		sends:      make(map[uint64]*sendStream),
		recvs:      make(map[uint64]*recvStream),
		peerLimit:  [2]uint64{uint64(cfg.MaxStreams), uint64(cfg.MaxUniStreams)},
		window:     recvWindow{limit: uint64(cfg.ConnWindow)},
	}
	c.writable.L = &c.mu
	c.ctx, c.end = context.WithCancelCause(context.Background())
	if cfg.Version == wire.Legacy {
		c.announced = true
		c.mu.Lock()
		c.setPeerLocked(unlimited)
		c.mu.Unlock()
	}
	return c
}

// unlimited stands for the parameters that the legacy framing does not have.
var unlimited = wire.Parameters{
	MaxData:                 maxCredit,
	MaxStreamDataBidiLocal:  maxCredit,
	MaxStreamDataBidiRemote: maxCredit,
	MaxStreamDataUni:        maxCredit,
	MaxStreamsBidi:          maxStreamIndex,
	MaxStreamsUni:           maxStreamIndex,
}

const maxCredit = 1<<62 - 1

// flushTime is how long Run tries to hand the last frame to a slow peer.
const flushTime = time.Second

// runner is a pipe with work of its own, such as keep-alive.
type runner interface {
	// Run works until ctx ends.
	Run(ctx context.Context)
}

// Run drives the connection until it ends and returns why: the cause of
// Context. Ending ctx closes it with CodeNoError. Call it once, always, even to
// have an earlier Close sent: it also releases the pipe.
func (c *Conn) Run(ctx context.Context) error {
	c.start()
	var wg sync.WaitGroup
	flushed := make(chan struct{})
	wg.Go(c.readLoop)
	wg.Go(c.keepTime)
	wg.Go(func() {
		defer close(flushed)
		c.writeLoop()
	})
	if r, ok := c.pipe.(runner); ok {
		wg.Go(func() { r.Run(c.ctx) })
	}
	select {
	case <-ctx.Done():
		c.Close(session.CodeNoError, "")
	case <-c.ctx.Done():
	}
	wait(flushed, flushTime)
	cause := context.Cause(c.ctx)
	_ = c.pipe.Close(cause) // the connection is over either way; cause says why
	wg.Wait()
	return cause
}

func wait(done <-chan struct{}, limit time.Duration) {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}

func (c *Conn) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.live.restarted, c.live.pinged = now, now
	if c.peer == nil {
		c.live.handshake = now.Add(c.cfg.HandshakeTimeout)
	}
	if c.cfg.Version.Records() {
		c.live.idle = c.cfg.IdleTimeout
	}
}

// Ready waits until the peer has granted streams and data, which on a QUIC
// connection the handshake does. Streams opened before wait or get ErrNoCredit.
func (c *Conn) Ready(ctx context.Context) error {
	select {
	case <-c.ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	}
}

// Close implements [session.Conn]. Data still queued is dropped.
func (c *Conn) Close(code session.SessionCode, reason string) {
	c.finish(&session.CloseError{Code: code, Reason: reason},
		&wire.Close{Application: true, Code: uint64(code), Reason: reason})
}

// finish ends the connection for cause, unless it is over already, after a last frame.
func (c *Conn) finish(cause error, last *wire.Close) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finishLocked(cause, last)
}

func (c *Conn) finishLocked(cause error, last *wire.Close) {
	if c.ended {
		return
	}
	c.ended, c.last = true, last
	c.end(connEnd(cause))
	c.writable.Broadcast()
	for _, s := range c.recvs {
		s.readable.Broadcast()
	}
	c.wakeWriterLocked()
}

// connEnd says why a connection has ended in the session's terms.
func connEnd(cause error) error {
	var closed *session.CloseError
	if errors.As(cause, &closed) {
		return closed
	}
	return &session.LostError{Idle: errors.Is(cause, ErrIdle), Err: cause}
}

// violateLocked ends the connection over what the peer did.
func (c *Conn) violateLocked(err *ViolationError) {
	c.finishLocked(err, &wire.Close{Code: codeViolation, Reason: err.Detail})
}

// Context implements [session.Conn].
func (c *Conn) Context() context.Context { return c.ctx }

// LocalAddr implements [session.Conn].
func (c *Conn) LocalAddr() net.Addr { return c.cfg.LocalAddr }

// RemoteAddr implements [session.Conn].
func (c *Conn) RemoteAddr() net.Addr { return c.cfg.RemoteAddr }

// Stats implements [session.Conn]. Bytes are those of the messages. The round
// trip is known from qmux-01 on and includes what waits ahead of a ping in the
// socket.
func (c *Conn) Stats() session.Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return session.Stats{
		RTT:           c.live.rtt,
		MinRTT:        c.live.minRTT,
		BytesSent:     c.bytesSent.Load(),
		BytesReceived: c.bytesReceived.Load(),
	}
}

// keepTime pings, and ends the connection when the peer is gone.
func (c *Conn) keepTime() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-c.tend:
		case <-timer.C:
		}
		if at := c.checkLiveness(time.Now()); !at.IsZero() {
			timer.Reset(time.Until(at))
		}
	}
}

// checkLiveness returns when to check again; zero = not before c.tend says so.
func (c *Conn) checkLiveness(now time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.live.check(now); err != nil {
		c.finishLocked(fmt.Errorf("peer %v: %w", c.cfg.RemoteAddr, err), nil)
		return time.Time{}
	}
	if c.live.pingDue(now) && !c.pingDue {
		c.pingDue = true
		c.live.pinged = now
		c.wakeWriterLocked()
	}
	return c.live.next()
}

func (c *Conn) wakeWriterLocked() {
	select {
	case c.work <- struct{}{}:
	default:
	}
}
