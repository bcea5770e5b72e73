package simmesh

import (
	"context"

	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// countedConn counts the announcements that one end of a link receives.
type countedConn struct {
	session.Conn
	l *Link
	e *end
}

func (l *Link) count(c session.Conn, end int) session.Conn { return countedConn{c, l, &l.ends[end]} }

// OpenStream opens a stream; announcements come on one that we have opened.
func (c countedConn) OpenStream(ctx context.Context) (session.Stream, error) {
	s, err := c.Conn.OpenStream(ctx)
	if err != nil {
		return nil, err
	}
	return &countedStream{Stream: s, c: c}, nil
}

// countedStream reads along on a stream of announcements: ANNOUNCE_OK, then one typed message after the other.
type countedStream struct {
	session.Stream
	c         countedConn
	announces bool // it is such a stream
	greeted   bool // ANNOUNCE_OK has come
	begun     bool // something was written
	rest      []byte
}

// Write looks at the type of the stream, which is the first thing written.
func (s *countedStream) Write(p []byte) (int, error) {
	if !s.begun && len(p) > 0 {
		s.begun = true
		kind, _, _ := version.Encoding().Parse(p)
		s.announces = lite.BidiStream(kind) == lite.StreamAnnounce
	}
	return s.Stream.Write(p)
}

func (s *countedStream) Read(p []byte) (int, error) {
	n, err := s.Stream.Read(p)
	if s.announces && n > 0 {
		s.rest = append(s.rest, p[:n]...)
		for s.take() {
		}
	}
	return n, err
}

// take counts the next message, if all of it is there.
func (s *countedStream) take() bool {
	head := 0
	kind := uint64(0)
	if s.greeted {
		n, used, err := version.Encoding().Parse(s.rest)
		if err != nil || used == 0 {
			return false
		}
		kind, head = n, used
	}
	size, used, err := version.Encoding().Parse(s.rest[head:])
	if err != nil || used == 0 || uint64(len(s.rest)-head-used) < size {
		return false
	}
	s.rest = s.rest[head+used+int(size):]
	if s.greeted {
		s.tally(lite.AnnounceType(kind))
	}
	s.greeted = true
	return true
}

func (s *countedStream) tally(kind lite.AnnounceType) {
	switch kind {
	case lite.TypeAnnounceStart:
		s.c.l.heard(&s.c.e.starts)
	case lite.TypeAnnounceUpdate:
		s.c.l.heard(&s.c.e.updates)
	case lite.TypeAnnounceEnd:
		s.c.l.heard(&s.c.e.ends)
	}
}
