package bench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// HoldConfig is a number of sessions to keep open.
type HoldConfig struct {
	// URL, Dial and Version are those of FanoutConfig.
	URL     string
	Dial    transport.DialConfig
	Version lite.Version
	// Sessions is how many there are, and Ramp the time over which they connect.
	Sessions int
	Ramp     time.Duration
	// Watch is a broadcast of Fanout's that each session reads from when it is
	// announced on; empty = the sessions stay idle.
	Watch string
}

// Held says how the sessions fared.
type Held struct {
	Open   int    `json:"open"`   // sessions that are up
	Ended  int    `json:"ended"`  // sessions that were up, and ended by themselves
	Frames uint64 `json:"frames"` // whole frames that they read
}

// Check says what is wrong with the configuration, or nil.
func (c HoldConfig) Check() error {
	switch {
	case c.URL == "":
		return errors.New("no relay URL")
	case c.Sessions < 1 || c.Sessions > 100_000:
		return fmt.Errorf("sessions %d: want 1 to 100000", c.Sessions)
	case c.Ramp < 0:
		return errors.New("the ramp must not be negative")
	}
	return nil
}

// Hold opens the sessions, calls ready when all are up, and keeps them until ctx
// ends. A session that ends by itself is counted and not replaced; one that
// cannot be opened is an error.
func Hold(ctx context.Context, cfg HoldConfig, ready func(Held)) (Held, error) {
	if err := cfg.Check(); err != nil {
		return Held{}, err
	}
	ctx, stop := context.WithCancel(ctx)
	h, running := &holder{cfg: cfg}, new(errgroup.Group)
	defer running.Wait()
	defer stop()
	if err := h.openAll(ctx, running); err != nil {
		return h.held(), err
	}
	ready(h.held())
	<-ctx.Done()
	return h.held(), nil
}

// holder keeps sessions open.
type holder struct {
	cfg         HoldConfig
	open, ended atomic.Int64
	frames      atomic.Uint64
}

func (h *holder) held() Held {
	return Held{Open: int(h.open.Load()), Ended: int(h.ended.Load()), Frames: h.frames.Load()}
}

// openAll opens the sessions, spread over the ramp.
func (h *holder) openAll(ctx context.Context, running *errgroup.Group) error {
	dials, dialCtx := errgroup.WithContext(ctx)
	dials.SetLimit(dialling)
	pace := time.NewTicker(max(h.cfg.Ramp/time.Duration(h.cfg.Sessions), time.Microsecond))
	defer pace.Stop()
	for range h.cfg.Sessions {
		dials.Go(func() error { return h.openOne(ctx, dialCtx, running) })
		select {
		case <-pace.C:
		case <-dialCtx.Done():
		}
	}
	return dials.Wait()
}

// openOne opens a session that runs until ctx ends.
func (h *holder) openOne(ctx, dialCtx context.Context, running *errgroup.Group) error {
	origin := moq.NewOrigin(session.RandomID(), moq.NewCache(viewerCache))
	c, err := dial(dialCtx, h.cfg.URL, h.cfg.Dial, h.cfg.Version, lite.RoleSubscriber, origin)
	if err != nil {
		return err
	}
	h.open.Add(1)
	running.Go(func() error {
		c.Run(ctx)
		if ctx.Err() == nil {
			h.open.Add(-1)
			h.ended.Add(1)
		}
		return nil
	})
	if h.cfg.Watch != "" {
		running.Go(func() error { h.watch(ctx, origin); return nil })
	}
	return nil
}

// watch reads the broadcast when it comes, until it ends.
func (h *holder) watch(ctx context.Context, origin *moq.Origin) {
	w := origin.Watch(h.cfg.Watch, moq.Reader{})
	defer w.Close()
	ev, err := w.Wait(ctx)
	if err != nil {
		return
	}
	sub, err := ev.Broadcast.Subscribe(moq.TrackKey{Name: trackName}, moq.SubscribeOptions{Priority: 128, MaxAge: maxAge}, nil)
	if err != nil {
		return
	}
	defer sub.Close()
	for {
		g, ok, err := sub.NextGroup(ctx)
		if err != nil || !ok {
			return
		}
		h.read(ctx, g)
	}
}

// read counts the frames of a group, as far as they come.
func (h *holder) read(ctx context.Context, g moq.GroupReader) {
	for {
		if _, ok, err := g.ReadFrame(ctx); err != nil || !ok {
			return
		}
		h.frames.Add(1)
	}
}
