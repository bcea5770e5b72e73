package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/moqmesh/moqmesh/moq"
)

// maxAge is how far behind the live edge the publisher keeps groups and the
// viewers want them.
const maxAge = 5 * time.Second

// trackName is the one track of the broadcast.
const trackName = "load"

// publisher writes frames at their due times.
type publisher struct {
	load  Load
	track *moq.TrackWriter
	clock *clock     // of stamps: frame 0 is due at its zero
	late  *latencies // how late frames of the window were written
	win   window
}

func newTrack(b *moq.Broadcast) (*moq.TrackWriter, error) {
	return b.Create(trackName, moq.TrackInfo{Priority: 128, MaxAge: maxAge, Timescale: 1_000_000})
}

// run writes all frames up to the end of the window and ends the track.
func (p *publisher) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var group *moq.GroupWriter
	frame := make([]byte, p.load.FrameBytes)
	for n := uint64(0); n < p.win.end; n++ {
		due := p.load.due(n)
		timer.Reset(due - p.clock.now())
		select {
		case <-timer.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		stamp{number: n, due: due}.put(frame)
		if p.win.contains(n) {
			p.late.record(p.clock.now() - due)
		}
		var err error
		if group, err = p.write(group, n, moq.Frame{Timestamp: uint64(due.Microseconds()), Payload: frame}); err != nil {
			return fmt.Errorf("write frame %d: %w", n, err)
		}
	}
	p.track.Finish()
	return nil
}

// write adds frame n to its group and returns the group that is then open.
func (p *publisher) write(group *moq.GroupWriter, n uint64, f moq.Frame) (*moq.GroupWriter, error) {
	size := uint64(p.load.GroupFrames)
	if size == 1 {
		return nil, p.track.WriteGroup(n, f)
	}
	var err error
	if n%size == 0 {
		if group, err = p.track.Group(n / size); err != nil {
			return nil, err
		}
	}
	if err := group.WriteFrame(f); err != nil {
		return nil, err
	}
	if n%size == size-1 {
		return nil, group.Close()
	}
	return group, nil
}
