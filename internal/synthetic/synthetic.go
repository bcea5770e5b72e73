// Package synthetic publishes made-up content at a steady pace: what the demo
// and tests watch. Every payload begins with the time it was sent, so that
// whoever receives it can tell how long it took.
package synthetic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moqmesh/moqmesh/moq"
)

// Track is the name of the track that Publish creates, unless told otherwise.
const Track = "data"

// Config says what to publish. The zero value is 30 frames of 1000 bytes a
// second, in groups of 30.
type Config struct {
	// Track names the track. Empty: Track.
	Track string
	// Rate is in frames a second. Zero: 30.
	Rate float64
	// FrameSize is in bytes, at least StampSize. Zero: 1000.
	FrameSize int
	// GroupSize is in frames, at most moq.MaxFrames. Zero: 30.
	GroupSize int
	// Now is the clock of the stamps; nil: time.Now.
	Now func() time.Time
	// Wrote, if not nil, is told of each frame.
	Wrote func(group uint64, bytes int)
}

func (c Config) withDefaults() Config {
	if c.Track == "" {
		c.Track = Track
	}
	if c.Rate == 0 {
		c.Rate = 30
	}
	if c.FrameSize == 0 {
		c.FrameSize = 1000
	}
	if c.GroupSize == 0 {
		c.GroupSize = 30
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Wrote == nil {
		c.Wrote = func(uint64, int) {}
	}
	return c
}

// Check says what is wrong with the configuration.
func (c Config) Check() error {
	c = c.withDefaults()
	switch {
	case !(c.Rate > 0 && c.Rate <= 1e6):
		return fmt.Errorf("rate %v is not above 0 and at most 1000000 frames a second", c.Rate)
	case c.FrameSize < StampSize || c.FrameSize > moq.MaxFrame:
		return fmt.Errorf("frame size %d is not %d to %d bytes", c.FrameSize, StampSize, moq.MaxFrame)
	case c.GroupSize < 1 || c.GroupSize > moq.MaxFrames:
		return fmt.Errorf("group size %d is not 1 to %d frames", c.GroupSize, moq.MaxFrames)
	case c.GroupSize*(c.FrameSize+frameOverhead) > moq.MaxGroup:
		return fmt.Errorf("a group of %d frames of %d bytes exceeds %d bytes", c.GroupSize, c.FrameSize, moq.MaxGroup)
	}
	return nil
}

// frameOverhead is the most that a frame's header takes.
const frameOverhead = 16

// Publish creates the track in b and writes frames until ctx ends. Then it ends
// the group under way, which may be short, and the track cleanly, and returns
// nil. It does not announce b.
func Publish(ctx context.Context, b *moq.Broadcast, cfg Config) error {
	if err := cfg.Check(); err != nil {
		return err
	}
	cfg = cfg.withDefaults()
	track, err := b.Create(cfg.Track, moq.TrackInfo{Priority: 128, MaxAge: 30 * time.Second, Timescale: timescale})
	if err != nil {
		return fmt.Errorf("create track %q: %w", cfg.Track, err)
	}
	defer track.Finish()
	s := &source{cfg: cfg, track: track, frame: make([]byte, cfg.FrameSize)}
	err = s.run(ctx)
	if errors.Is(err, errDone) {
		err = s.close()
	}
	if err != nil {
		return fmt.Errorf("write to track %q: %w", cfg.Track, err)
	}
	return nil
}

// timescale of the timestamps: microseconds since the first frame.
const timescale = 1_000_000

// catchUp is how late a frame may be; beyond, the pace starts anew instead of
// sending what was missed in a burst.
const catchUp = time.Second

// errDone ends a source whose context is over.
var errDone = errors.New("done")

// source writes the frames of one track.
type source struct {
	cfg   Config
	track *moq.TrackWriter
	frame []byte
	group *moq.GroupWriter
	next  uint64 // number of the next frame
}

func (s *source) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	began := time.Now()
	base, from := began, uint64(0) // frame "from" is due at base
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return errDone
		}
		if err := s.write(uint64(time.Since(began).Microseconds())); err != nil {
			return err
		}
		due := base.Add(time.Duration(float64(s.next-from) / s.cfg.Rate * float64(time.Second)))
		if time.Since(due) > catchUp {
			base, from, due = time.Now(), s.next, time.Now()
		}
		timer.Reset(time.Until(due))
	}
}

// write sends one frame and begins or ends its group where that is due.
func (s *source) write(timestamp uint64) (err error) {
	size := uint64(s.cfg.GroupSize)
	if s.next%size == 0 {
		if s.group, err = s.track.Group(s.next / size); err != nil {
			return err
		}
	}
	Stamp(s.frame, s.cfg.Now())
	if err := s.group.WriteFrame(moq.Frame{Timestamp: timestamp, Payload: s.frame}); err != nil {
		return err
	}
	s.cfg.Wrote(s.next/size, len(s.frame))
	s.next++
	if s.next%size == 0 {
		return s.close()
	}
	return nil
}

// close ends the group under way.
func (s *source) close() error {
	group := s.group
	if s.group = nil; group == nil {
		return nil
	}
	return group.Close()
}
