package bench

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// viewerCache bounds what one viewer holds, beyond the newest group.
const viewerCache = 4 << 20

// dialling bounds the dials that are under way at a time.
const dialling = 16

// dial opens one session, over the transport of the URL and no other.
func dial(ctx context.Context, url string, trust transport.DialConfig, v lite.Version, role lite.Role, origin *moq.Origin) (*client.Client, error) {
	trust.WebSocketDelay = -1
	return client.Dial(ctx, url, client.Config{Dial: trust, Versions: []lite.Version{v}, Origin: origin, Role: role})
}

// dial opens one session; g runs it until it ends, which ends the measurement.
func (f *fanout) dial(ctx context.Context, g *errgroup.Group, role lite.Role, origin *moq.Origin) (*client.Client, error) {
	trust := f.cfg.Dial
	if trust.Listen == nil {
		trust.Listen = listenCoalesced
	}
	c, err := dial(ctx, f.cfg.URL, trust, f.cfg.Version, role, origin)
	if err != nil {
		return nil, err
	}
	g.Go(func() error {
		if err := c.Run(ctx); err != nil {
			return fmt.Errorf("session: %w", err)
		}
		return nil
	})
	return c, nil
}

// publish announces the broadcast and returns its track.
func (f *fanout) publish(ctx context.Context, g *errgroup.Group) (*moq.TrackWriter, error) {
	origin := moq.NewOrigin(session.RandomID(), moq.NewCache(0))
	c, err := f.dial(ctx, g, lite.RolePublisher, origin)
	if err != nil {
		return nil, err
	}
	f.transport = c.Transport
	b := moq.NewBroadcast(origin.Cache(), nil)
	track, err := newTrack(b)
	if err != nil {
		return nil, err
	}
	origin.Publish(f.cfg.Path, b)
	return track, nil
}

// connect brings the viewers up, spread over the ramp, and returns when all have
// found the broadcast.
func (f *fanout) connect(ctx context.Context, g *errgroup.Group) error {
	dials, dialCtx := errgroup.WithContext(ctx)
	dials.SetLimit(dialling)
	pace := time.NewTicker(max(f.cfg.Ramp/time.Duration(f.cfg.Load.Viewers), time.Microsecond))
	defer pace.Stop()
	for range f.cfg.Load.Viewers {
		v := &viewer{load: f.cfg.Load, win: f.win, clock: f.clock, latency: f.latency}
		f.viewers = append(f.viewers, v)
		dials.Go(func() error { return f.view(ctx, dialCtx, g, v) })
		select {
		case <-pace.C:
		case <-dialCtx.Done():
		}
	}
	return dials.Wait()
}

// view connects one viewer and sets it to work. finding bounds the way there.
func (f *fanout) view(ctx, finding context.Context, g *errgroup.Group, v *viewer) error {
	finding, cancel := context.WithTimeout(finding, 30*time.Second)
	defer cancel()
	origin := moq.NewOrigin(session.RandomID(), moq.NewCache(viewerCache))
	w := origin.Watch(f.cfg.Path, moq.Reader{})
	defer w.Close()
	if _, err := f.dial(ctx, g, lite.RoleSubscriber, origin); err != nil {
		return err
	}
	ev, err := w.Wait(finding)
	if err != nil {
		return fmt.Errorf("wait for the announcement of %s: %w", f.cfg.Path, err)
	}
	g.Go(func() error { return v.run(ctx, ev.Broadcast) })
	return nil
}
