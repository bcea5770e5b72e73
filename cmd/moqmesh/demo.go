package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/moqmesh/moqmesh/internal/demo"
)

const demoAbout = `
Runs a small cluster as processes on this machine: two regions with an origin
and an edge relay each, a publisher in one of them, and a page in which a browser
watches the broadcast in the other. The configuration files are printed. It ends
with SIGINT.
`

// demoBroadcast is what the demo's publisher publishes.
const demoBroadcast = "demo"

// demoPublisherConfig is the publisher's.
const demoPublisherConfig = `url = "http://%s/"
broadcast = %q
`

// demoURLs is where things are, as --json prints them: the relay is the one that
// the page watches.
type demoURLs struct {
	Page      string            `json:"page"`
	Relay     string            `json:"relay"`
	Health    string            `json:"health"`
	Metrics   string            `json:"metrics"`
	Routes    map[string]string `json:"routes"` // by relay
	Directory string            `json:"directory"`
}

// demoRun is one run of the demo.
type demoRun struct {
	self, relay string // programs
	dir         string // of the configuration files
	relays      []*demoRelay
	asJSON      bool
	std         streams
}

// source is the relay that the publisher dials, watched the one of the page.
func (d *demoRun) source() *demoRelay  { return d.relays[0] }
func (d *demoRun) watched() *demoRelay { return d.relays[len(d.relays)-1] }

// demoMain is "moqmesh demo".
func demoMain(ctx context.Context, args []string, std streams) int {
	d := demoRun{std: std, relays: demoRelays()}
	f := newFlags("moqmesh demo", "", demoAbout)
	f.BoolVar(&d.asJSON, "json", false, "print the URLs as one line of JSON")
	f.StringVar(&d.relay, "relay-bin", "", "`PROGRAM` of the relay; default: moqmesh-relay beside this one")
	page := f.String("page", "127.0.0.1:0", "`ADDRESS` of the page")
	_, err := f.parse(args, 0)
	if err == nil {
		err = d.prepare()
	}
	if err == nil {
		err = d.run(ctx, *page)
	}
	return report(std, "moqmesh demo", err)
}

// prepare finds programs and addresses, and writes the configuration files.
func (d *demoRun) prepare() (err error) {
	if d.self, err = os.Executable(); err != nil {
		return err
	}
	if d.relay == "" {
		d.relay = filepath.Join(filepath.Dir(d.self), "moqmesh-relay")
	}
	if d.dir, err = os.MkdirTemp("", "moqmesh-demo-"); err != nil {
		return err
	}
	if err := d.layOut(); err != nil {
		return err
	}
	return d.write(d.publisherFile(), fmt.Sprintf(demoPublisherConfig, d.source().public, demoBroadcast))
}

func (d *demoRun) relayFile(r *demoRelay) string { return filepath.Join(d.dir, r.name+".toml") }
func (d *demoRun) publisherFile() string         { return filepath.Join(d.dir, "publisher.toml") }

// keep writes a file that is for the owner's eyes.
func (d *demoRun) keep(file string, content []byte) error { return os.WriteFile(file, content, 0o600) }

// write writes a configuration file and shows it.
func (d *demoRun) write(file, text string) error {
	if !d.asJSON {
		fmt.Fprintf(d.std.out, "# %s\n%s\n", file, text)
	}
	return d.keep(file, []byte(text))
}

// run runs everything until ctx ends, or a part of it does.
func (d *demoRun) run(ctx context.Context, page string) error {
	ln, err := net.Listen("tcp", page)
	if err != nil {
		return err
	}
	log := demo.NewLog(d.std.err)
	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error { return d.page().Serve(ctx, ln) })
	for _, r := range d.relays {
		parts.Go(func() error { return demo.RunProcess(ctx, log, r.name, d.relay, d.relayFile(r)) })
	}
	parts.Go(func() error {
		for _, r := range d.relays {
			if err := demo.AwaitReady(ctx, "http://"+r.public+"/ready"); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
		d.print(ln.Addr().String())
		return demo.RunProcess(ctx, log, "publisher", d.self, "demo-publisher", d.publisherFile())
	})
	if err := parts.Wait(); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil // interrupted while it started
}

func (d *demoRun) page() demo.Page {
	at := d.watched().public
	return demo.Page{
		Relay: "https://" + at + "/", WebSocket: "ws://" + at + "/",
		Certificates: "http://" + at + "/certificates.json", Broadcast: demoBroadcast,
	}
}

// print tells where everything is.
func (d *demoRun) print(page string) {
	at := d.watched()
	u := demoURLs{
		Page: "http://" + page + "/", Relay: "https://" + at.public + "/",
		Health: "http://" + at.public + "/health", Metrics: "http://" + at.internal + "/metrics",
		Routes: make(map[string]string), Directory: d.dir,
	}
	for _, r := range d.relays {
		u.Routes[r.name] = "http://" + r.internal + "/routes"
	}
	if d.asJSON {
		json.NewEncoder(d.std.out).Encode(u)
		return
	}
	io.WriteString(d.std.out, u.text(d.relays))
}

func (u demoURLs) text(relays []*demoRelay) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Watch it:  %s\n\nRelay      %s\nHealth     %s\nMetrics    %s\n", u.Page, u.Relay, u.Health, u.Metrics)
	for _, r := range relays {
		fmt.Fprintf(&b, "Routes     %s  of %s\n", u.Routes[r.name], r.name)
	}
	b.WriteString("\nCtrl-C ends everything.\n\n")
	return b.String()
}
