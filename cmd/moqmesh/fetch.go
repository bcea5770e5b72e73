package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moqmesh/moqmesh/internal/synthetic"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

const fetchAbout = `Prints the frames of one group, each with a line end behind it: the group that
--group names, or the newest, to its end.
` + connectAbout

// fetch is the command line of "moqmesh fetch".
type fetch struct {
	flags *flagSet
	conn  *connection

	name, track  string
	raw, json    bool
	group, frame uint64
	timeout      time.Duration
}

// fetchMain is "moqmesh fetch".
func fetchMain(ctx context.Context, args []string, std streams) int {
	f := newFetch()
	err := f.parse(args)
	if err == nil {
		err = f.run(ctx, std)
	}
	return report(std, f.flags.Name(), err)
}

func newFetch() *fetch {
	f := newFlags("moqmesh fetch", "URL", fetchAbout)
	c := &fetch{flags: f, conn: addConnection(f)}
	f.StringVar(&c.name, "name", "", "`PATH` of the broadcast")
	f.StringVar(&c.track, "track", synthetic.Track, "`NAME` of the track")
	f.Uint64Var(&c.group, "group", 0, "number `N` of the group instead of the newest")
	f.Uint64Var(&c.frame, "frame", 0, "begin at frame `N` of the group that --group names")
	f.BoolVar(&c.raw, "raw", false, "print payloads with nothing between them")
	f.BoolVar(&c.json, "json", false, "print an object for each frame instead of its payload")
	f.DurationVar(&c.timeout, "timeout", 10*time.Second, "how long it may take in all; 0 = for ever")
	return c
}

func (c *fetch) parse(args []string) error {
	rest, err := c.flags.parse(args, 1)
	if err != nil {
		return err
	}
	if rest, err = c.conn.take(rest); err != nil {
		return err
	}
	switch {
	case len(rest) > 0:
		return c.flags.wrong("unexpected argument %q", rest[0])
	case c.name == "":
		return c.flags.wrong("--name is missing")
	case c.raw && c.json:
		return c.flags.wrong("--raw and --json exclude each other")
	case c.timeout < 0:
		return c.flags.wrong("--timeout is negative")
	case c.flags.given("frame") && !c.flags.given("group"):
		return c.flags.wrong("--frame needs --group")
	}
	if c.name, err = wire.CleanPath(c.name); err != nil {
		return c.flags.wrong("--name: %w", err)
	}
	return nil
}

func (c *fetch) run(ctx context.Context, std streams) error {
	con := newConsole(std.err)
	target, cfg, err := c.conn.client(ctx, lite.RoleSubscriber, con)
	if err != nil {
		return err
	}
	l := newLink(target, cfg, true, con)
	p := &printer{w: std.out, raw: c.raw, json: c.json, meter: &meter{}, now: time.Now}
	return l.during(ctx, func(ctx context.Context) error {
		if c.timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("not done within %v: %w", c.timeout, moq.ErrTimeout))
			defer cancel()
		}
		return c.get(ctx, l, p)
	})
}

// get prints the group.
func (c *fetch) get(ctx context.Context, l *link, p *printer) error {
	session, err := l.session(ctx)
	if err != nil {
		return err
	}
	f := newFinder(l.cfg.Origin, c.name, c.timeout/2)
	defer f.close()
	b, suffix, err := f.broadcast(ctx)
	if err != nil {
		return err
	}
	key := moq.TrackKey{Suffix: suffix, Name: c.track}
	switch {
	case !c.flags.given("group"):
		err = c.newest(ctx, b, key, p)
	case !session.Version().HasFetch():
		err = fmt.Errorf("%s cannot fetch a group by its number", session.Version())
	default:
		err = c.numbered(ctx, b, key, p)
	}
	if err != nil {
		return fmt.Errorf("fetch from track %q of %q: %w", c.track, c.name, err)
	}
	return nil
}

// newest prints the group that a new subscriber begins with.
func (c *fetch) newest(ctx context.Context, b *moq.Broadcast, key moq.TrackKey, p *printer) error {
	sub, err := b.Subscribe(key, moq.SubscribeOptions{Priority: 128}, nil)
	if err != nil {
		return err
	}
	defer sub.Close()
	info, err := sub.Track().Info(ctx)
	if err != nil {
		return err
	}
	p.timescale = info.Timescale
	g, ok, err := sub.NextGroup(ctx)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("the track has no group: %w", moq.ErrNotFound)
	}
	return printGroup(ctx, &g, p)
}

// numbered prints the group that the command line names.
func (c *fetch) numbered(ctx context.Context, b *moq.Broadcast, key moq.TrackKey, p *printer) error {
	track, err := b.Hold(key)
	if err != nil {
		return err
	}
	defer track.Drop()
	info, err := track.Info(ctx)
	if err != nil {
		return err
	}
	p.timescale = info.Timescale
	g, err := track.Fetch(ctx, c.group, c.frame, 128)
	if err != nil {
		return err
	}
	defer g.Close()
	return printGroup(ctx, &g.GroupReader, p)
}

// printGroup prints a group to its end.
func printGroup(ctx context.Context, g *moq.GroupReader, p *printer) error {
	for {
		index := g.First() + g.Frames()
		f, ok, err := g.ReadFrame(ctx)
		switch {
		case errors.Is(err, moq.ErrNotFound):
			return fmt.Errorf("group %d: %w", g.Sequence(), err)
		case err != nil:
			return fmt.Errorf("read group %d: %w", g.Sequence(), err)
		case !ok:
			return nil
		}
		if err := p.frame(received{Frame: f, group: g.Sequence(), index: index}); err != nil {
			return err
		}
	}
}
