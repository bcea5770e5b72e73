package main

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"time"

	"github.com/moqmesh/moqmesh/internal/synthetic"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/moq/wire"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

const publishAbout = `Publishes a broadcast of one track until its input ends or it is interrupted.
The input is FILE or standard input, each line a frame; with --raw each
--frame-size bytes. With --synthetic it is made up, and says in the first 8
bytes of each frame when it was sent. Nothing is read before the relay is
reached, and with --on-demand before somebody subscribes.
` + connectAbout

// publish is the command line of "moqmesh publish".
type publish struct {
	flags *flagSet
	conn  *connection

	name, track string
	cost        uint64
	synthetic   bool
	raw         bool
	rate        float64
	frameSize   int
	groupSize   int
	onDemand    bool
	once, json  bool

	file string // "" = standard input
}

// publishMain is "moqmesh publish".
func publishMain(ctx context.Context, args []string, std streams) int {
	p := newPublish()
	err := p.parse(args)
	if err == nil {
		err = p.run(ctx, std)
	}
	return report(std, p.flags.Name(), err)
}

func newPublish() *publish {
	f := newFlags("moqmesh publish", "URL [FILE]", publishAbout)
	p := &publish{flags: f, conn: addConnection(f)}
	f.StringVar(&p.name, "name", "", "`PATH` of the broadcast")
	f.StringVar(&p.track, "track", synthetic.Track, "`NAME` of the track")
	f.Uint64Var(&p.cost, "cost", 0, "be a standby: announce the broadcast at the price `N` while nobody subscribes, from moq-lite-06 on")
	f.BoolVar(&p.synthetic, "synthetic", false, "make frames up")
	f.BoolVar(&p.raw, "raw", false, "cut the input by size instead of lines")
	f.Float64Var(&p.rate, "rate", 0, "`FRAMES` per second; 0 = 30 made up, otherwise as they come")
	f.IntVar(&p.frameSize, "frame-size", 1000, "`BYTES` of a frame that is made up or cut by size")
	f.IntVar(&p.groupSize, "group-size", 0, "`FRAMES` of a group; 0 = 30 made up, otherwise 1")
	f.BoolVar(&p.onDemand, "on-demand", false, "begin when somebody subscribes")
	f.BoolVar(&p.once, "once", false, "end with the session instead of reconnecting")
	f.BoolVar(&p.json, "json", false, "print an object for each session, and one at the end")
	return p
}

func (p *publish) parse(args []string) error {
	rest, err := p.flags.parse(args, 2)
	if err != nil {
		return err
	}
	if rest, err = p.conn.take(rest); err != nil {
		return err
	}
	switch {
	case len(rest) > 1:
		return p.flags.wrong("unexpected argument %q", rest[1])
	case p.synthetic && (p.raw || p.onDemand || len(rest) > 0):
		return p.flags.wrong("--synthetic takes no input to wait for or cut")
	case p.cost > moq.MaxCost:
		return p.flags.wrong("--cost is at most %d", uint64(moq.MaxCost))
	case p.name == "":
		return p.flags.wrong("--name is missing")
	case p.frameSize < 1:
		return p.flags.wrong("--frame-size is below 1")
	case p.rate < 0 || math.IsNaN(p.rate):
		return p.flags.wrong("--rate is negative")
	}
	if len(rest) > 0 && rest[0] != "-" {
		p.file = rest[0]
	}
	if err := p.check(); err != nil {
		return p.flags.wrong("%w", err)
	}
	if p.name, err = wire.CleanPath(p.name); err != nil {
		return p.flags.wrong("--name: %w", err)
	}
	return nil
}

// check finds figures out of range. But for the stamp the limits of made-up
// frames hold for all.
func (p *publish) check() error {
	cfg := p.made(nil)
	if p.raw {
		cfg.FrameSize = max(cfg.FrameSize, synthetic.StampSize)
	}
	return cfg.Check()
}

// made is the configuration of made-up frames.
func (p *publish) made(m *meter) synthetic.Config {
	cfg := synthetic.Config{Track: p.track, Rate: p.rate, FrameSize: p.frameSize, GroupSize: p.groupSize}
	if m != nil {
		cfg.Wrote = m.frame
	}
	return cfg
}

func (p *publish) run(ctx context.Context, std streams) error {
	con := newConsole(std.err)
	target, cfg, err := p.conn.client(ctx, lite.RolePublisher, con)
	if err != nil {
		return err
	}
	in, err := p.open(std.in)
	if err != nil {
		return err
	}
	defer in.Close()
	l := newLink(target, cfg, p.once, con)
	out := json.NewEncoder(std.out)
	if p.json {
		l.connected = func(c *client.Client) { _ = out.Encode(sessionEvent{"connected", c.Transport, c.Version().String()}) }
	}
	m := &meter{}
	err = m.watched(ctx, con, true, func() error {
		return l.during(ctx, func(ctx context.Context) error { return p.write(ctx, l, m, in) })
	})
	if p.json {
		_ = out.Encode(finishedEvent{"finished", m.total()})
	}
	return err
}

// sessionEvent and finishedEvent are what --json prints.
type (
	sessionEvent struct {
		Event     string `json:"event"`
		Transport string `json:"transport"`
		Protocol  string `json:"protocol"`
	}
	finishedEvent struct {
		Event string `json:"event"`
		tally
	}
)

func (p *publish) open(stdin io.Reader) (io.ReadCloser, error) {
	if p.file == "" || p.synthetic {
		return io.NopCloser(stdin), nil
	}
	return os.Open(p.file)
}

// write announces the broadcast and fills its track.
func (p *publish) write(ctx context.Context, l *link, m *meter, in io.Reader) error {
	if _, err := l.session(ctx); err != nil {
		return err
	}
	origin := l.cfg.Origin
	b := moq.NewBroadcast(origin.Cache(), nil)
	origin.PublishAt(p.name, b, p.cost)
	if p.synthetic {
		return p.makeUp(ctx, b, m)
	}
	track, err := b.Create(p.track, moq.TrackInfo{Priority: 128, MaxAge: 5 * time.Second, Timescale: 1_000_000})
	if err != nil {
		return err
	}
	defer track.Finish()
	if p.onDemand {
		if err := wanted(ctx, track); err != nil {
			return err
		}
	}
	return p.copy(ctx, track, m, in)
}

// makeUp publishes made-up frames until ctx ends.
func (p *publish) makeUp(ctx context.Context, b *moq.Broadcast, m *meter) error {
	if err := synthetic.Publish(ctx, b, p.made(m)); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// wanted waits until somebody subscribes to a track.
func wanted(ctx context.Context, track *moq.TrackWriter) error {
	for {
		d, changed := track.Demand()
		if d.Subscribers > 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// copy publishes the input. A read cannot be interrupted: when ctx ends first,
// the goroutine that reads is left to the end of the process.
func (p *publish) copy(ctx context.Context, track *moq.TrackWriter, m *meter, in io.Reader) error {
	w := &grouper{track: track, size: max(p.groupSize, 1), began: time.Now(), wrote: m.frame}
	done := make(chan error, 1)
	go func() { done <- p.input(ctx, in, w.write) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if end := w.end(); err == nil {
		err = end
	}
	return err
}
