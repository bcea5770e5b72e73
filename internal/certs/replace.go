package certs

import (
	"context"
	"sync/atomic"
)

// follower keeps files up to date until ctx ends, and returns its cause.
type follower interface {
	run(ctx context.Context) error
}

// replaceable is what the configuration in force names. Another configuration replaces it as a whole.
type replaceable[T follower] struct {
	value    atomic.Pointer[T]
	replaced chan struct{} // has a token when run follows something that is not in force any more
}

func newReplaceable[T follower](first T) *replaceable[T] {
	r := &replaceable[T]{replaced: make(chan struct{}, 1)}
	r.value.Store(&first)
	return r
}

func (r *replaceable[T]) get() T { return *r.value.Load() }

func (r *replaceable[T]) put(next T) {
	r.value.Store(&next)
	select {
	case r.replaced <- struct{}{}:
	default: // run has not seen the one before yet, and will see this one
	}
}

// run follows whatever is in force until ctx ends, and returns its cause. Run it once.
func (r *replaceable[T]) run(ctx context.Context) error {
	for ctx.Err() == nil {
		r.followOne(ctx)
	}
	return context.Cause(ctx)
}

// followOne follows what is in force until that is replaced.
func (r *replaceable[T]) followOne(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = r.get().run(ctx) // it ends with ctx alone
	}()
	select {
	case <-r.replaced:
	case <-ctx.Done():
	}
	stop()
	<-done
}
