package main

import (
	"context"
	"fmt"
	"time"

	"github.com/moqmesh/moqmesh/moq"
)

// finder waits for a broadcast to be announced.
type finder struct {
	origin *moq.Origin
	path   string
	reader moq.Reader
	news   *moq.Watcher
	// patience bounds each wait; 0 = for ever.
	patience time.Duration
}

// newFinder looks for path and for what it is below. The caller closes it.
func newFinder(origin *moq.Origin, path string, patience time.Duration) *finder {
	r := moq.Reader{Hidden: true}
	return &finder{origin: origin, path: path, reader: r, news: origin.Watch("", r), patience: patience}
}

func (f *finder) close() { f.news.Close() }

// broadcast returns what is announced, and how the path goes on below it. It
// wraps moq.ErrUnroutable when patience ends.
func (f *finder) broadcast(ctx context.Context) (b *moq.Broadcast, suffix string, err error) {
	if f.patience > 0 {
		why := fmt.Errorf("broadcast %q is not announced: %w", f.path, moq.ErrUnroutable)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, f.patience, why)
		defer cancel()
	}
	for {
		b, suffix, err := f.origin.Find(f.path, f.reader)
		if err == nil && b.Err() == nil {
			return b, suffix, nil
		}
		if _, err := f.news.Wait(ctx); err != nil {
			return nil, "", err
		}
	}
}
