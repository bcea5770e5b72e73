package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/moqmesh/moqmesh/internal/synthetic"
	"github.com/moqmesh/moqmesh/moq"
)

// keep is how old pictures may be that a viewer still gets.
const keep = 2 * time.Second

// Publisher writes the pictures into a broadcast.
type Publisher struct {
	pictures, catalog *moq.TrackWriter
	painter           *painter
}

// NewPublisher creates the tracks in b and writes the catalog. Run does the rest.
func NewPublisher(b *moq.Broadcast) (*Publisher, error) {
	pictures, err := b.Create(Track, moq.TrackInfo{Priority: 128, MaxAge: keep, Timescale: 1000})
	if err != nil {
		return nil, fmt.Errorf("create track: %w", err)
	}
	list, err := b.Create(CatalogTrack, moq.TrackInfo{Priority: 255, MaxAge: keep, Timescale: 1000})
	if err != nil {
		return nil, fmt.Errorf("create catalog: %w", err)
	}
	text, err := json.Marshal(catalog())
	if err != nil {
		return nil, err
	}
	now := uint64(time.Now().UnixMilli())
	if err := list.WriteGroup(now, moq.Frame{Timestamp: now, Payload: text}); err != nil {
		return nil, fmt.Errorf("write catalog: %w", err)
	}
	return &Publisher{pictures, list, newPainter()}, nil
}

// Run writes a picture each 1/Rate of a second until ctx ends, then ends the tracks
// and returns nil.
func (p *Publisher) Run(ctx context.Context) error {
	defer p.catalog.Finish()
	defer p.pictures.Finish()
	ticker := time.NewTicker(time.Second / Rate)
	defer ticker.Stop()
	// Numbers follow the clock, so that a publisher that returns goes on above
	// what it sent before.
	sequence := uint64(time.Now().Unix())
	for {
		ended, err := p.group(ctx, ticker.C, sequence)
		if ended || err != nil {
			return err
		}
		sequence++
	}
}

// group writes one group. ended: ctx did before it was full.
func (p *Publisher) group(ctx context.Context, tick <-chan time.Time, sequence uint64) (ended bool, err error) {
	g, err := p.pictures.Group(sequence)
	if err != nil {
		return false, fmt.Errorf("begin group: %w", err)
	}
	for i := range uint64(GroupSize) {
		if err := p.write(g, sequence*GroupSize+i); err != nil {
			return false, err
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return true, g.Close()
		}
	}
	return false, g.Close()
}

// write publishes picture n.
func (p *Publisher) write(g *moq.GroupWriter, n uint64) error {
	now := time.Now()
	picture, err := p.painter.paint(n, now)
	if err != nil {
		return fmt.Errorf("paint: %w", err)
	}
	payload := make([]byte, synthetic.StampSize, synthetic.StampSize+len(picture))
	synthetic.Stamp(payload, now)
	return g.WriteFrame(moq.Frame{Timestamp: uint64(now.UnixMilli()), Payload: append(payload, picture...)})
}
