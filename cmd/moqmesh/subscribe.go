package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/moqmesh/moqmesh/internal/synthetic"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

const subscribeAbout = `Prints the frames of a track from the newest group on, each with a line end
behind it, until the track ends. It waits for the broadcast to be there, and when
the broadcast or the session goes away for it to come back. Latency is known of
frames that begin with their send time, as those of "publish --synthetic" do.
` + connectAbout

// subscribe is the command line of "moqmesh subscribe".
type subscribe struct {
	flags *flagSet
	conn  *connection

	name, track string
	raw, json   bool
	start       uint64
	count       uint64
	maxAge      time.Duration
	priority    uint
	timeout     time.Duration
	once        bool
}

// subscribeMain is "moqmesh subscribe".
func subscribeMain(ctx context.Context, args []string, std streams) int {
	s := newSubscribe()
	err := s.parse(args)
	if err == nil {
		err = s.run(ctx, std)
	}
	return report(std, s.flags.Name(), err)
}

func newSubscribe() *subscribe {
	f := newFlags("moqmesh subscribe", "URL", subscribeAbout)
	s := &subscribe{flags: f, conn: addConnection(f)}
	f.StringVar(&s.name, "name", "", "`PATH` of the broadcast")
	f.StringVar(&s.track, "track", synthetic.Track, "`NAME` of the track")
	f.BoolVar(&s.raw, "raw", false, "print payloads with nothing between them")
	f.BoolVar(&s.json, "json", false, "print an object for each frame instead of its payload")
	f.Uint64Var(&s.start, "start", 0, "begin at group `N` instead of the newest, as far as it is kept")
	f.Uint64Var(&s.count, "count", 0, "end after `N` frames; 0 = never")
	f.DurationVar(&s.maxAge, "max-age", 5*time.Second, "skip groups that are further behind the newest")
	f.UintVar(&s.priority, "priority", 128, "`0-255`, higher is more urgent")
	f.DurationVar(&s.timeout, "timeout", 0, "how long to wait for the broadcast; 0 = for ever")
	f.BoolVar(&s.once, "once", false, "end with the session or the broadcast instead of waiting for them")
	return s
}

func (s *subscribe) parse(args []string) error {
	rest, err := s.flags.parse(args, 1)
	if err != nil {
		return err
	}
	if rest, err = s.conn.take(rest); err != nil {
		return err
	}
	switch {
	case len(rest) > 0:
		return s.flags.wrong("unexpected argument %q", rest[0])
	case s.name == "":
		return s.flags.wrong("--name is missing")
	case s.raw && s.json:
		return s.flags.wrong("--raw and --json exclude each other")
	case s.priority > math.MaxUint8:
		return s.flags.wrong("--priority is not 0 to 255")
	case s.timeout < 0 || s.maxAge < 0:
		return s.flags.wrong("--timeout and --max-age are not negative")
	}
	if s.name, err = wire.CleanPath(s.name); err != nil {
		return s.flags.wrong("--name: %w", err)
	}
	return nil
}

func (s *subscribe) options() moq.SubscribeOptions {
	opts := moq.SubscribeOptions{Priority: uint8(s.priority), MaxAge: s.maxAge}
	if s.flags.given("start") {
		opts.Start = moq.Start{Kind: moq.StartAt, Group: s.start}
	}
	return opts
}

func (s *subscribe) run(ctx context.Context, std streams) error {
	con := newConsole(std.err)
	target, cfg, err := s.conn.client(ctx, lite.RoleSubscriber, con)
	if err != nil {
		return err
	}
	l := newLink(target, cfg, s.once, con)
	m := &meter{}
	p := &printer{w: std.out, raw: s.raw, json: s.json, meter: m, now: time.Now}
	return m.watched(ctx, con, !isTerminal(std.out), func() error {
		return l.during(ctx, func(ctx context.Context) error { return s.follow(ctx, l, p) })
	})
}

// errEnough ends a subscription that has what it wanted.
var errEnough = errors.New("enough frames")

// follow reads the track for as long and as often as there is one.
func (s *subscribe) follow(ctx context.Context, l *link, p *printer) error {
	if _, err := l.session(ctx); err != nil {
		return err
	}
	f := newFinder(l.cfg.Origin, s.name, s.timeout)
	defer f.close()
	wait := &retry{}
	for {
		b, suffix, err := f.broadcast(ctx)
		if err != nil {
			return err
		}
		before := p.meter.total()
		err = s.read(ctx, b, moq.TrackKey{Suffix: suffix, Name: s.track}, p)
		switch {
		case err == nil, errors.Is(err, errEnough):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case s.once, errors.Is(err, moq.ErrNotFound), !comesBack(err):
			return fmt.Errorf("track %q of %q: %w", s.track, s.name, err)
		}
		l.cfg.Log.Warn("track ended; will retry", "track", s.track, "err", err)
		if err := wait.sleep(ctx, p.meter.total() != before); err != nil {
			return err
		}
	}
}

// comesBack says whether a track that ended this way may be there again later.
func comesBack(err error) bool {
	for _, e := range []error{moq.ErrUnroutable, moq.ErrCancelled, moq.ErrClosed, moq.ErrGoingAway, moq.ErrTimeout} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// read prints the track of one broadcast.
func (s *subscribe) read(ctx context.Context, b *moq.Broadcast, key moq.TrackKey, p *printer) error {
	return read(ctx, b, key, s.options(), func(track *moq.Track) error {
		info, err := track.Info(ctx)
		p.timescale = info.Timescale
		return err
	}, func(f received) error {
		if err := p.frame(f); err != nil {
			return err
		}
		if s.count > 0 && p.meter.total().Frames >= s.count {
			return errEnough
		}
		return nil
	})
}
