package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/pelletier/go-toml/v2"

	"github.com/moqmesh/moqmesh/internal/demo"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// demoPublisher is the file that the demo's publisher runs on.
type demoPublisher struct {
	URL       string `toml:"url"`       // of the relay; http trusts the certificate it names
	Broadcast string `toml:"broadcast"` // to publish
}

// demoPublisherMain is "moqmesh demo-publisher FILE", a process of the demo.
func demoPublisherMain(ctx context.Context, args []string, std streams) int {
	if len(args) != 1 {
		return report(std, "moqmesh demo-publisher", &usageError{"moqmesh demo", errors.New("takes a configuration file")})
	}
	return report(std, "moqmesh demo-publisher", publishDemo(ctx, args[0]))
}

func publishDemo(ctx context.Context, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var cfg demoPublisher
	if err := toml.Unmarshal(text, &cfg); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	dial, err := (&connection{}).dial(ctx)
	if err != nil {
		return err
	}
	dial.WebSocketDelay = -1
	origin := moq.NewOrigin(session.RandomID(), moq.NewCache(cacheBytes))
	b := moq.NewBroadcast(origin.Cache(), nil)
	publisher, err := demo.NewPublisher(b)
	if err != nil {
		return err
	}
	origin.Publish(cfg.Broadcast, b)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	painted := make(chan struct{})
	go func() {
		defer close(painted)
		cancel(publisher.Run(ctx))
	}()
	err = client.Run(ctx, cfg.URL, client.Config{
		Dial: dial, Origin: origin, Role: lite.RolePublisher,
	}, nil)
	cancel(nil)
	<-painted
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
