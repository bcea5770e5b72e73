package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/client"
)

// parting is how long a command that ends waits for the relay to take the rest.
const parting = time.Second

// link keeps a command's session up.
type link struct {
	url  string
	cfg  client.Config
	once bool // do not reconnect
	con  *console
	// connected, if not nil, is told of each session.
	connected func(*client.Client)
	upc       chan struct{} // closed when the first session is up

	mu  sync.Mutex
	now *client.Client // the newest session
}

func newLink(url string, cfg client.Config, once bool, con *console) *link {
	return &link{url: url, cfg: cfg, once: once, con: con, upc: make(chan struct{})}
}

// during runs work beside the session and returns when both have ended. The
// context of work ends with ctx, and with the session for good. Then, and when
// work is done, the session is ended, once the peer has what is owed to it. What
// stopped ctx is not an error.
func (l *link) during(ctx context.Context, work func(context.Context) error) error {
	sessions, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	defer hangUp()
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ended := make(chan error, 1)
	go func() {
		err := l.run(sessions)
		ended <- err
		stop(err)
	}()
	err := work(working)
	var why error
	if l.once && errors.Is(err, moq.ErrClosed) {
		why = <-ended // it took the broadcast with it, and knows more
	} else {
		l.finish()
		hangUp()
		<-ended
	}
	switch {
	case ctx.Err() != nil:
		return nil
	case why != nil:
		return why
	}
	return err
}

func (l *link) run(ctx context.Context) error {
	if !l.once {
		return client.Run(ctx, l.url, l.cfg, l.up)
	}
	c, err := client.Dial(ctx, l.url, l.cfg)
	if err != nil {
		return err
	}
	l.up(c)
	return c.Run(ctx)
}

func (l *link) up(c *client.Client) {
	l.cfg.Log.Info("connected", "transport", c.Transport, "proto", c.Version())
	if l.connected != nil {
		l.connected(c)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == nil {
		close(l.upc)
	}
	l.now = c
}

// session waits for the first session.
func (l *link) session(ctx context.Context) (*client.Client, error) {
	select {
	case <-l.upc:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now, nil
}

// finish ends the session that is up.
func (l *link) finish() {
	l.con.hush()
	l.mu.Lock()
	c := l.now
	l.mu.Unlock()
	if c == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), parting)
	defer cancel()
	c.Finish(ctx)
}
