package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/moq"
)

// input cuts the input into frames and hands them to write, at the wanted pace.
func (p *publish) input(ctx context.Context, in io.Reader, write func([]byte) error) error {
	next := lines(in)
	if p.raw {
		next = chunks(in, p.frameSize)
	}
	var tick <-chan time.Time
	if p.rate > 0 {
		t := time.NewTicker(max(time.Duration(float64(time.Second)/p.rate), 1))
		defer t.Stop()
		tick = t.C
	}
	for {
		frame, err := next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read input: %w", err)
		}
		if tick != nil {
			select {
			case <-tick:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if err := write(frame); err != nil {
			return err
		}
	}
}

// lines reads a frame for each line, without its end. A frame is valid until the
// next is read.
func lines(in io.Reader) (next func() ([]byte, error)) {
	s := bufio.NewScanner(in)
	s.Buffer(nil, moq.MaxFrame/2)
	return func() ([]byte, error) {
		if s.Scan() {
			return s.Bytes(), nil
		}
		if s.Err() != nil {
			return nil, s.Err()
		}
		return nil, io.EOF
	}
}

// chunks reads a frame for each size bytes; the last may be shorter. A frame is
// valid until the next is read.
func chunks(in io.Reader, size int) (next func() ([]byte, error)) {
	buf := make([]byte, size)
	return func() ([]byte, error) {
		n, err := io.ReadFull(in, buf)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		return buf[:n], err
	}
}

// grouper writes frames to a track in groups of some frames, fewer where they
// are large.
type grouper struct {
	mu sync.Mutex // guards the fields that change, and over

	track *moq.TrackWriter
	size  int       // frames of a group
	began time.Time // where timestamps, in microseconds, are zero
	wrote func(group uint64, bytes int)

	next   uint64 // number of the next group
	group  *moq.GroupWriter
	frames int // in group
	bytes  int // in group, with headers at their largest
	over   bool
}

// errOver refuses what comes after the end.
var errOver = errors.New("the track has ended")

// headerBytes is the most that a frame's header takes.
const headerBytes = 16

func (g *grouper) write(payload []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return errOver
	}
	if g.group != nil && g.bytes+len(payload)+headerBytes > moq.MaxGroup {
		if err := g.closeLocked(); err != nil {
			return err
		}
	}
	if g.group == nil {
		var err error
		if g.group, err = g.track.Group(g.next); err != nil {
			return err
		}
		g.next++
	}
	f := moq.Frame{Timestamp: uint64(time.Since(g.began).Microseconds()), Payload: payload}
	if err := g.group.WriteFrame(f); err != nil {
		return err
	}
	g.wrote(g.group.Sequence(), len(payload))
	g.bytes += len(payload) + headerBytes
	if g.frames++; g.frames == g.size {
		return g.closeLocked()
	}
	return nil
}

// closeLocked ends the group under way.
func (g *grouper) closeLocked() error {
	if g.group == nil {
		return nil
	}
	group := g.group
	g.group, g.frames, g.bytes = nil, 0, 0
	return group.Close()
}

// end ends the group under way and refuses what is written later.
func (g *grouper) end() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
	return g.closeLocked()
}
