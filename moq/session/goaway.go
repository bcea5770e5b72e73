package session

import (
	"context"
	"fmt"

	"github.com/moqmesh/moqmesh/cluster/route"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// takeGoaway reads the peer's GOAWAY (§12). A second one ends the session.
func (s *Session) takeGoaway(q *request) error {
	m, err := lite.DecodeGoaway(q.body, s.v)
	q.reject(moq.ErrCancelled)
	if err != nil {
		s.log.Debug("malformed goaway", "err", err)
		return nil
	}
	if !s.goneAway.CompareAndSwap(false, true) {
		return violated(fmt.Errorf("second goaway"))
	}
	s.log.Debug("peer is going away")
	s.link.change(func(l *route.Link) { l.Leaving = true })
	if s.cfg.OnGoaway != nil {
		s.cfg.OnGoaway(m.URI)
	}
	return nil
}

// Goaway asks the peer to leave, for uri where that is not empty (at most 8192
// bytes). New requests of the peer fail from now on; running ones go on. Up to
// 03 there is nothing on the wire. A second call does nothing.
func (s *Session) Goaway(ctx context.Context, uri string) error {
	if !s.leaving.CompareAndSwap(false, true) || !s.v.HasGoaway() {
		return nil
	}
	stream, err := s.conn.OpenStream(ctx)
	if err != nil {
		return fmt.Errorf("open goaway stream: %w", err)
	}
	stream.SetPriority(controlUrgency)
	b := lite.Goaway{URI: uri}.Append(lite.StreamGoaway.Append(nil, s.v), s.v)
	s.mu.Lock() // Run may be about to change the counters
	sent := &s.cfg.Counters.Control.Sent[ClassGoaway]
	s.mu.Unlock()
	sent.Add(uint64(len(b)))
	if _, err := stream.Write(b); err != nil {
		return fmt.Errorf("send goaway: %w", err)
	}
	return stream.Close()
}
