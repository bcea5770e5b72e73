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

	"golang.org/x/sync/errgroup"

	"github.com/moqmesh/moqmesh/internal/demo"
)

const demoAbout = `
Runs a relay and a publisher as processes on this machine, and a page in which a
browser watches the broadcast. Their configuration files are printed. It ends
with SIGINT.
`

// demoBroadcast is what the demo's publisher publishes.
const demoBroadcast = "demo"

// demoRelayConfig is the relay's configuration file.
const demoRelayConfig = `[listen]
bind = %q
tls.generate = ["localhost", "127.0.0.1"]

[web.http]
listen = %q

[internal]
listen = %q

[auth]
public = "**"
`

// demoPublisherConfig is the publisher's.
const demoPublisherConfig = `url = "http://%s/"
broadcast = %q
`

// demoURLs is where things are, as --json prints them.
type demoURLs struct {
	Page      string `json:"page"`
	Relay     string `json:"relay"`
	Health    string `json:"health"`
	Metrics   string `json:"metrics"`
	Directory string `json:"directory"`
}

// demoRun is one run of the demo.
type demoRun struct {
	self, relay      string // programs
	dir              string // of the configuration files
	public, internal string // addresses of the relay
	asJSON           bool
	std              streams
}

// demoMain is "moqmesh demo".
func demoMain(ctx context.Context, args []string, std streams) int {
	d := demoRun{std: std}
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
	if d.public, d.internal, err = demo.FreeAddrs(); err != nil {
		return err
	}
	if d.dir, err = os.MkdirTemp("", "moqmesh-demo-"); err != nil {
		return err
	}
	return errors.Join(
		d.write(d.relayFile(), fmt.Sprintf(demoRelayConfig, d.public, d.public, d.internal)),
		d.write(d.publisherFile(), fmt.Sprintf(demoPublisherConfig, d.public, demoBroadcast)))
}

func (d *demoRun) relayFile() string     { return filepath.Join(d.dir, "relay.toml") }
func (d *demoRun) publisherFile() string { return filepath.Join(d.dir, "publisher.toml") }

// write writes a configuration file and shows it.
func (d *demoRun) write(file, text string) error {
	if !d.asJSON {
		fmt.Fprintf(d.std.out, "# %s\n%s\n", file, text)
	}
	return os.WriteFile(file, []byte(text), 0o600)
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
	parts.Go(func() error { return demo.RunProcess(ctx, log, "relay", d.relay, d.relayFile()) })
	parts.Go(func() error {
		if err := demo.AwaitReady(ctx, "http://"+d.public+"/ready"); err != nil {
			return err
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
	return demo.Page{
		Relay: "https://" + d.public + "/", WebSocket: "ws://" + d.public + "/",
		Certificates: "http://" + d.public + "/certificates.json", Broadcast: demoBroadcast,
	}
}

// print tells where everything is.
func (d *demoRun) print(page string) {
	u := demoURLs{
		Page: "http://" + page + "/", Relay: "https://" + d.public + "/",
		Health: "http://" + d.public + "/health", Metrics: "http://" + d.internal + "/metrics", Directory: d.dir,
	}
	if d.asJSON {
		json.NewEncoder(d.std.out).Encode(u)
		return
	}
	io.WriteString(d.std.out, u.text())
}

func (u demoURLs) text() string {
	return fmt.Sprintf("Watch it:  %s\n\nRelay      %s\nHealth     %s\nMetrics    %s\n\nCtrl-C ends everything.\n\n",
		u.Page, u.Relay, u.Health, u.Metrics)
}
