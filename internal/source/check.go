package source

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
)

// reader brings the documents at the locations. One call at a time.
type reader interface {
	// read returns one document for each location, each within the bound.
	read(ctx context.Context) (answer, error)
	// refuse drops what was read last, so that no cache answers with it again.
	refuse()
	// shares says that a caller may take the outcome of a read that began before it asked.
	shares() bool
}

// answer is what a reader brought.
type answer struct {
	docs   [][]byte
	cached bool          // still fresh by its own word: nobody was asked
	every  time.Duration // time until the next request is due; zero = the period
}

// refusal is content that was read and that the parser does not take.
type refusal struct {
	from string
	err  error
}

func (r *refusal) Error() string { return fmt.Sprintf("parse %s: %v", r.from, r.err) }
func (r *refusal) Unwrap() error { return r.err }

// check reads once and settles what becomes of the value. The caller holds the busy token.
func (s *Source[T]) check(ctx context.Context) error {
	a, err := s.reader.read(ctx)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx) // we stopped asking: that says nothing of the source
	}
	defer s.checks.Add(1)
	if err != nil {
		return s.fail(fmt.Errorf("read %s: %w", s.from, err))
	}
	switch sum := digest(a.docs); {
	case s.good.seen && s.good.sum == sum:
		s.confirm(a)
		return nil
	case s.bad.seen && s.bad.sum == sum:
		s.reader.refuse()
		return s.fail(s.bad.err)
	default:
		return s.adopt(a, sum)
	}
}

// adopt parses content that differs from the value in use and from what was refused last.
func (s *Source[T]) adopt(a answer, sum [sha256.Size]byte) error {
	first := !s.good.seen
	if !first && s.cfg.Lines.Reloading != "" {
		s.cfg.Log.Info(s.cfg.Lines.Reloading, "source", s.from)
	}
	v, err := s.cfg.Parse(a.docs)
	if err != nil {
		s.bad = verdict{seen: true, sum: sum, err: &refusal{s.from, err}}
		s.reader.refuse()
		return s.fail(s.bad.err)
	}
	s.good, s.bad = verdict{seen: true, sum: sum}, verdict{}
	s.value.Store(&v)
	s.confirm(a)
	s.announce()
	if !first {
		s.cfg.Log.Info(s.cfg.Lines.Reloaded, "source", s.from)
	}
	return nil
}

// confirm notes that the locations hold the value in use.
func (s *Source[T]) confirm(a answer) {
	s.mu.Lock()
	recovered := s.status.confirm(time.Now(), a, s.cfg.Period)
	s.grumble = grumble{}
	s.mu.Unlock()
	if recovered {
		s.cfg.Log.Info("source readable again", "source", s.from)
	}
}

// fail notes that the value in use could not be brought up to date, and returns why.
func (s *Source[T]) fail(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.fail(time.Now(), err)
	return err
}

// announce wakes everybody who waits for a new value.
func (s *Source[T]) announce() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Changes++
	s.status.Loaded = time.Now()
	close(s.changed)
	s.changed = make(chan struct{})
}

// digest tells contents apart; lengths keep a byte from wandering between two documents.
func digest(docs [][]byte) (sum [sha256.Size]byte) {
	h := sha256.New()
	var length [8]byte
	for _, doc := range docs {
		binary.BigEndian.PutUint64(length[:], uint64(len(doc)))
		h.Write(length[:])
		h.Write(doc)
	}
	h.Sum(sum[:0])
	return sum
}
