package certs

import (
	"io"
	"net"
	"sync"
	"time"
)

// memConn is one end of a connection in memory. Unlike those of net.Pipe its writes do not wait for a reader: in a
// handshake that fails, both ends write at once.
type memConn struct{ in, out *memStream }

func newMemConns() (a, b net.Conn) {
	x, y := newMemStream(), newMemStream()
	return memConn{x, y}, memConn{y, x}
}

func (c memConn) Read(p []byte) (int, error)  { return c.in.read(p) }
func (c memConn) Write(p []byte) (int, error) { return c.out.write(p) }

func (c memConn) Close() error {
	c.in.close()
	c.out.close()
	return nil
}

func (c memConn) LocalAddr() net.Addr              { return &net.UnixAddr{Name: "memory"} }
func (c memConn) RemoteAddr() net.Addr             { return &net.UnixAddr{Name: "memory"} }
func (c memConn) SetDeadline(time.Time) error      { return nil }
func (c memConn) SetReadDeadline(time.Time) error  { return nil }
func (c memConn) SetWriteDeadline(time.Time) error { return nil }

// memStream is one direction. What was written before the end can still be read.
type memStream struct {
	mu     sync.Mutex // guards the rest
	more   *sync.Cond
	buf    []byte
	closed bool
}

func newMemStream() *memStream {
	s := &memStream{}
	s.more = sync.NewCond(&s.mu)
	return s
}

func (s *memStream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.buf) == 0 {
		if s.closed {
			return 0, io.EOF
		}
		s.more.Wait()
	}
	n := copy(p, s.buf)
	s.buf = s.buf[n:]
	return n, nil
}

func (s *memStream) write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, net.ErrClosed
	}
	s.buf = append(s.buf, p...)
	s.more.Broadcast()
	return len(p), nil
}

func (s *memStream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.more.Broadcast()
}
