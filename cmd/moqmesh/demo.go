package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/moqmesh/moqmesh/internal/demo"
	"github.com/moqmesh/moqmesh/web"
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

// demoMain is "moqmesh demo".
func demoMain(ctx context.Context, args []string, std streams) int {
	f := newFlags("moqmesh demo", "", demoAbout)
	asJSON := f.Bool("json", false, "print the URLs as one line of JSON")
	program := f.String("relay-bin", "", "`PROGRAM` of the relay; default: moqmesh-relay beside this one")
	page := f.String("page", "127.0.0.1:0", "`ADDRESS` of the page")
	_, err := f.parse(args, 0)
	if err == nil {
		err = runDemo(ctx, *program, *page, *asJSON, std)
	}
	return report(std, "moqmesh demo", err)
}

func runDemo(ctx context.Context, program, page string, asJSON bool, std streams) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if program == "" {
		program = filepath.Join(filepath.Dir(self), "moqmesh-relay")
	}
	dir, err := os.MkdirTemp("", "moqmesh-demo-")
	if err != nil {
		return err
	}
	relay, internal, err := freeAddrs()
	if err != nil {
		return err
	}
	notes := std.out
	if asJSON {
		notes = io.Discard
	}
	relayFile := filepath.Join(dir, "relay.toml")
	publisherFile := filepath.Join(dir, "publisher.toml")
	err = errors.Join(
		writeConfig(notes, relayFile, fmt.Sprintf(demoRelayConfig, relay, relay, internal)),
		writeConfig(notes, publisherFile, fmt.Sprintf(demoPublisherConfig, relay, demoBroadcast)))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	children := &children{stop: cancel, log: std.err}
	defer children.wait()
	defer cancel(nil)
	if err := children.start(ctx, "relay", program, relayFile); err != nil {
		return err
	}
	if err := awaitReady(ctx, "http://"+relay+"/ready"); err != nil {
		return err
	}
	if err := children.start(ctx, "publisher", self, "demo-publisher", publisherFile); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", page)
	if err != nil {
		return err
	}
	urls := demoURLs{
		Page: "http://" + ln.Addr().String() + "/", Relay: "https://" + relay + "/",
		Health: "http://" + relay + "/health", Metrics: "http://" + internal + "/metrics", Directory: dir,
	}
	printURLs(std.out, urls, asJSON)
	return servePage(ctx, ln, relay)
}

func printURLs(w io.Writer, u demoURLs, asJSON bool) {
	if asJSON {
		json.NewEncoder(w).Encode(u)
		return
	}
	fmt.Fprintf(w, "\nWatch it:  %s\n\nRelay      %s\nHealth     %s\nMetrics    %s\n\nCtrl-C ends everything.\n",
		u.Page, u.Relay, u.Health, u.Metrics)
}

// writeConfig writes a configuration file and shows it.
func writeConfig(notes io.Writer, file, text string) error {
	fmt.Fprintf(notes, "# %s\n%s\n", file, text)
	return os.WriteFile(file, []byte(text), 0o600)
}

// freeAddrs finds a loopback address whose port is free for UDP and TCP, and
// another for TCP.
func freeAddrs() (both, tcp string, err error) {
	for range 20 {
		a, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", "", err
		}
		b, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			a.Close()
			return "", "", err
		}
		udp, err := net.ListenPacket("udp", a.Addr().String())
		a.Close()
		b.Close()
		if err == nil {
			udp.Close()
			return a.Addr().String(), b.Addr().String(), nil
		}
	}
	return "", "", errors.New("no port is free for UDP and TCP")
}

// awaitReady asks the relay until it serves.
func awaitReady(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 15*time.Second, errors.New("the relay did not become ready"))
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if res, err := http.Get(url); err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// servePage serves the page until ctx ends, and returns why where that is an error.
func servePage(ctx context.Context, ln net.Listener, relay string) error {
	config, err := json.Marshal(map[string]string{
		"relay": "https://" + relay + "/", "certificates": "http://" + relay + "/certificates.json",
		"broadcast": demoBroadcast, "track": demo.Track,
	})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /config.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(config)
	})
	mux.Handle("GET /", http.FileServerFS(web.Files))
	srv := &http.Server{Handler: withPolicy(mux, relay), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { srv.Close() })
	defer stop()
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// withPolicy allows the page its own files and the relay, nothing else.
func withPolicy(h http.Handler, relay string) http.Handler {
	policy := fmt.Sprintf("default-src 'self'; img-src 'self' blob:; connect-src 'self' http://%s https://%s", relay, relay)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Cache-Control", "no-cache")
		h.ServeHTTP(w, r)
	})
}

// children are the demo's processes. When one ends, all do.
type children struct {
	stop func(error)
	log  io.Writer
	done []chan struct{}
}

func (c *children) start(ctx context.Context, name, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = c.log, c.log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 15 * time.Second
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the %s: %w", name, err)
	}
	done := make(chan struct{})
	c.done = append(c.done, done)
	go func() {
		defer close(done)
		err := cmd.Wait()
		if err == nil {
			err = errors.New("by itself")
		}
		c.stop(fmt.Errorf("the %s (process %d) ended: %w", name, cmd.Process.Pid, err))
	}()
	return nil
}

func (c *children) wait() {
	for _, done := range c.done {
		<-done
	}
}
