package main

import (
	"context"

	"github.com/moqmesh/moqmesh/internal/source"
)

// watch reloads the configuration when its file changes, until ctx ends.
func (p *program) watch(ctx context.Context) {
	file, err := source.New(source.Config[string]{
		Locations: []string{p.file},
		Parse:     source.One(func(b []byte) (string, error) { return string(b), nil }),
		Log:       p.log,
	})
	if err == nil {
		err = file.Load(ctx)
	}
	if err != nil {
		p.log.Warn("configuration file is not watched", "err", err)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		file.Run(ctx)
	}()
	changed := file.Changed()
	for {
		select {
		case <-changed:
			changed = file.Changed() // before the file is read: it may change again
			p.reload()
		case <-ctx.Done():
			<-done
			return
		}
	}
}
