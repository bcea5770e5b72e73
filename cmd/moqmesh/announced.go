package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

const announcedAbout = `Prints the broadcasts at and below PREFIX as they come and go: what happened and
the path. With --once it prints the paths that are there now and ends, with
status 4 if there is none.
` + connectAbout

// announced is the command line of "moqmesh announced".
type announced struct {
	flags *flagSet
	conn  *connection

	prefix             string
	once, json, hidden bool
	settle             time.Duration
}

// announcedMain is "moqmesh announced".
func announcedMain(ctx context.Context, args []string, std streams) int {
	a := newAnnounced()
	err := a.parse(args)
	if err == nil {
		err = a.run(ctx, std)
	}
	return report(std, a.flags.Name(), err)
}

func newAnnounced() *announced {
	f := newFlags("moqmesh announced", "URL [PREFIX]", announcedAbout)
	a := &announced{flags: f, conn: addConnection(f)}
	f.BoolVar(&a.once, "once", false, "print what is there now, and end")
	f.DurationVar(&a.settle, "settle", 500*time.Millisecond, "with --once, how long nothing more must have come")
	f.BoolVar(&a.hidden, "hidden", false, "show names that begin with a dot too")
	f.BoolVar(&a.json, "json", false, "print objects")
	return a
}

func (a *announced) parse(args []string) error {
	rest, err := a.flags.parse(args, 2)
	if err != nil {
		return err
	}
	if rest, err = a.conn.take(rest); err != nil {
		return err
	}
	if len(rest) > 1 {
		return a.flags.wrong("unexpected argument %q", rest[1])
	}
	if len(rest) > 0 {
		if a.prefix, err = wire.CleanPath(rest[0]); err != nil {
			return a.flags.wrong("prefix: %w", err)
		}
	}
	return nil
}

func (a *announced) run(ctx context.Context, std streams) error {
	con := newConsole(std.err)
	target, cfg, err := a.conn.client(ctx, lite.RoleSubscriber, con)
	if err != nil {
		return err
	}
	l := newLink(target, cfg, a.once, con)
	return l.during(ctx, func(ctx context.Context) error {
		if _, err := l.session(ctx); err != nil {
			return err
		}
		w := cfg.Origin.Watch(a.prefix, moq.Reader{Hidden: a.hidden})
		defer w.Close()
		if a.once {
			return a.list(ctx, w, std.out)
		}
		return a.follow(ctx, w, std.out)
	})
}

// follow prints changes until ctx ends.
func (a *announced) follow(ctx context.Context, w *moq.Watcher, out io.Writer) error {
	for {
		ev, err := w.Wait(ctx)
		if err != nil {
			return err
		}
		if err := a.print(ev, out); err != nil {
			return err
		}
	}
}

// list prints what is there. The protocol does not say when it has told all, so
// that a pause must do.
func (a *announced) list(ctx context.Context, w *moq.Watcher, out io.Writer) error {
	for found := false; ; found = true {
		pause, cancel := context.WithTimeout(ctx, a.settle)
		ev, err := w.Wait(pause)
		cancel()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && !found:
			return fmt.Errorf("nothing is announced at %q: %w", a.prefix, moq.ErrNotFound)
		case err != nil:
			return nil
		case ev.Change == moq.Ended:
			continue
		}
		if err := a.print(ev, out); err != nil {
			return err
		}
	}
}

// announcedLine is one change with --json. The route is that of the relay's offer.
type announcedLine struct {
	Event string   `json:"event"`
	Path  string   `json:"path"`
	Hops  []uint64 `json:"hops,omitempty"` // origin first
	Cost  *uint64  `json:"cost,omitempty"` // of one more subscription, the link to the relay included
	Cold  *uint64  `json:"cold,omitempty"` // with nothing cached anywhere
}

var changes = map[moq.Change]string{
	moq.Started: "started", moq.Updated: "updated", moq.Replaced: "replaced", moq.Ended: "ended",
}

func (a *announced) print(ev moq.Event, out io.Writer) (err error) {
	switch {
	case a.json:
		line := announcedLine{Event: changes[ev.Change], Path: ev.Path}
		if ev.Change != moq.Ended {
			line.Hops, line.Cost, line.Cold = ev.Route.Hops, &ev.Route.Warm, &ev.Route.Cold
		}
		return json.NewEncoder(out).Encode(line)
	case a.once:
		_, err = fmt.Fprintln(out, ev.Path)
	default:
		_, err = fmt.Fprintf(out, "%-8s  %s\n", changes[ev.Change], ev.Path)
	}
	return err
}
