package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/moqmesh/moqmesh/internal/synthetic"
	"github.com/moqmesh/moqmesh/moq"
)

// Track is the name of the pictures' track.
const Track = "video"

// Publish writes pictures into b until ctx ends, then ends the track and returns nil.
func Publish(ctx context.Context, b *moq.Broadcast) error {
	track, err := b.Create(Track, moq.TrackInfo{Priority: 128, MaxAge: 2 * time.Second, Timescale: 1000})
	if err != nil {
		return fmt.Errorf("create track: %w", err)
	}
	defer track.Finish()
	p := newPainter()
	ticker := time.NewTicker(time.Second / Rate)
	defer ticker.Stop()
	// Numbers follow the clock, so that a publisher that returns goes on above
	// what it sent before.
	first := uint64(time.Now().UnixMilli()) * Rate / 1000
	var group *moq.GroupWriter
	for n := first; ; n++ {
		if group, err = next(track, group, n-first, n/GroupSize); err != nil {
			return err
		}
		if err := write(group, p, n); err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return group.Close()
		}
	}
}

// next begins a new group where one is due.
func next(track *moq.TrackWriter, group *moq.GroupWriter, frame, sequence uint64) (*moq.GroupWriter, error) {
	if frame > 0 && group.Sequence() == sequence {
		return group, nil
	}
	if group != nil {
		if err := group.Close(); err != nil {
			return nil, fmt.Errorf("end group: %w", err)
		}
	}
	return track.Group(sequence)
}

func write(group *moq.GroupWriter, p *painter, n uint64) error {
	picture, err := p.paint(n)
	if err != nil {
		return fmt.Errorf("paint: %w", err)
	}
	payload := make([]byte, synthetic.StampSize, synthetic.StampSize+len(picture))
	now := time.Now()
	synthetic.Stamp(payload, now)
	return group.WriteFrame(moq.Frame{Timestamp: uint64(now.UnixMilli()), Payload: append(payload, picture...)})
}
