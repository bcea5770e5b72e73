// Package client dials relays: one session with [Dial], or one that is kept up
// with [Run].
package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/transport/websocket"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// Config is how a client connects and what it is there for.
type Config struct {
	// Dial says how to reach the server; its ALPNs are set from Versions.
	Dial transport.DialConfig
	// Versions are offered in this order; empty = all finished ones.
	Versions []lite.Version
	// Origin holds what we publish and takes what the server announces.
	Origin *moq.Origin
	// Role narrows what the session does; zero = both.
	Role lite.Role
	// Cost declares what pulling from us costs the server; absent = 1.
	Cost lite.Optional
	// LinkCost prices what we pull; absent = what the server declares, else 1.
	LinkCost lite.Optional
	// ServerID stands for the server where its wire carries no hop id; 0 = random.
	ServerID uint64
	// Limits bound the server; zero = defaults.
	Limits session.Limits
	// Counters may be shared; nil = none.
	Counters *session.Counters
	// Log is for the session; nil discards.
	Log *slog.Logger
	// OnGoaway is told when the server asks us to leave.
	OnGoaway func(uri string)

	// Initial, Multiplier, Max and GiveUp shape Run's retries: the first wait, its
	// growth, its ceiling, and after how long of failing Run returns. Zero: 1 s,
	// 2, 5 s, never.
	Initial    time.Duration
	Multiplier float64
	Max        time.Duration
	GiveUp     time.Duration
}

func (c Config) withDefaults() Config {
	if len(c.Versions) == 0 {
		c.Versions = transport.Finished
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Initial == 0 {
		c.Initial = time.Second
	}
	if c.Multiplier == 0 {
		c.Multiplier = 2
	}
	if c.Max == 0 {
		c.Max = 5 * time.Second
	}
	c.Dial.ALPNs = transport.ALPNs(c.Versions)
	return c
}

// Client is one session that we dialled.
type Client struct {
	*session.Session
	// Transport is "quic", "webtransport" or "websocket".
	Transport string

	access session.Access
	run    func(context.Context) error
}

// Dial connects to url and says who we are. The caller runs the client.
func Dial(ctx context.Context, url string, cfg Config) (*Client, error) {
	cfg = cfg.withDefaults()
	d, err := transport.Dial(ctx, url, cfg.Dial)
	if err != nil {
		return nil, err
	}
	c := &Client{Transport: d.Transport, run: d.Run}
	moving := make(chan error, 1)
	if d.Run != nil { // the handshake needs its bytes moved
		run := d.Run
		runCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
		go func() { moving <- run(runCtx) }()
		c.run = func(context.Context) error { defer stop(); return <-moving }
	}
	v, err := transport.VersionOf(d.ALPN)
	if err == nil {
		c.Session, err = session.Handshake(ctx, d.Conn, session.Config{
			Version: v, Legacy: transport.Legacy(cfg.Versions),
			Setup:      lite.Setup{Path: d.Path, Role: cfg.Role, Cost: cfg.Cost, Hop: cfg.Origin.ID(), Probe: lite.ProbeReport},
			AssignedID: cfg.ServerID, LinkCost: cfg.LinkCost,
			Limits: cfg.Limits, Counters: cfg.Counters, Log: cfg.Log, OnGoaway: cfg.OnGoaway,
		})
	}
	if err != nil {
		d.Conn.Close(session.CodeVersion, "")
		if c.run != nil {
			c.run(ctx)
		}
		return nil, fmt.Errorf("handshake: %w", err)
	}
	c.access = session.Access{
		Origin: cfg.Origin, Peer: true,
		NoPublish:   cfg.Role == lite.RolePublisher,
		NoSubscribe: cfg.Role == lite.RoleSubscriber,
	}
	return c, nil
}

// Run serves the session until it ends or ctx does, and returns why.
func (c *Client) Run(ctx context.Context) error {
	var keeping sync.WaitGroup
	defer keeping.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if !c.access.NoSubscribe {
		keeping.Go(func() { session.Keep(ctx, c.access.Origin) })
	}
	err := c.Session.Run(ctx, c.access)
	if c.run != nil {
		c.run(ctx)
	}
	return err
}

// stable is how long a session must have lived for the next wait to be short again.
const stable = 10 * time.Second

// Run keeps a session to url up until ctx ends, waiting between attempts with
// jitter. up is told of each session that comes up; nil ignores it. It returns
// ctx's cause, or the last error where a refusal makes retrying useless or
// GiveUp has passed.
func Run(ctx context.Context, url string, cfg Config, up func(*Client)) error {
	cfg = cfg.withDefaults()
	wait, failing := cfg.Initial, time.Now()
	for {
		began := time.Now()
		err := once(ctx, url, cfg, func(c *Client) {
			failing = time.Time{}
			if up != nil {
				up(c)
			}
		})
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case Refused(err):
			return err
		case failing.IsZero():
			failing = time.Now()
		case cfg.GiveUp > 0 && time.Since(failing) >= cfg.GiveUp:
			return err
		}
		if time.Since(began) >= stable {
			wait = cfg.Initial
		}
		cfg.Log.Warn("session ended; will retry", "err", err, "wait", wait)
		if err := sleep(ctx, time.Duration(float64(wait)*(0.5+rand.Float64()/2))); err != nil {
			return err
		}
		wait = min(time.Duration(float64(wait)*cfg.Multiplier), cfg.Max)
	}
}

func once(ctx context.Context, url string, cfg Config, up func(*Client)) error {
	c, err := Dial(ctx, url, cfg)
	if err != nil {
		return err
	}
	up(c)
	return c.Run(ctx)
}

// refusals are the session codes by which a server turns us away for what we are.
var refusals = []session.SessionCode{
	session.CodeUnauthorized, session.CodeVersion,
	session.CodeKeyValue, 9, 20, // relays before 0.17: unauthorized, version, invalid role
}

// Refused says whether the server turned us away for what we are: trying again
// does not help.
func Refused(err error) bool {
	var (
		closed       *session.CloseError
		webTransport *transport.StatusError
		webSocket    *websocket.StatusError
	)
	switch {
	case errors.As(err, &closed):
		return closed.Remote && slices.Contains(refusals, closed.Code)
	case errors.As(err, &webTransport) && unauthorized(webTransport.Status):
		return true
	}
	return errors.As(err, &webSocket) && unauthorized(webSocket.Status)
}

func unauthorized(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
