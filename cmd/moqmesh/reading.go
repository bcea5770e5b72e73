package main

import (
	"context"
	"slices"

	"github.com/moqmesh/moqmesh/moq"
)

// received is one frame as it came.
type received struct {
	moq.Frame
	group uint64
	index int // within the group
}

// reading hands the frames of a subscription on, group after group, by number as
// far as they are there. It waits for a group to be complete before the next,
// unless the group gets stale.
type reading struct {
	sub   *moq.Subscription
	wakec chan struct{}
	open  []*assembly // the one under way, then by number
	frame func(received) error
}

// assembly puts the frames of one group together.
type assembly struct {
	moq.GroupReader
	got   received
	size  uint64 // of the frame under way
	begun bool   // frames were handed on
}

// read subscribes to a track of b and hands each frame to frame, until the track
// ends, frame fails or ctx ends. begin is called once before, with the track.
func read(ctx context.Context, b *moq.Broadcast, key moq.TrackKey, opts moq.SubscribeOptions,
	begin func(*moq.Track) error, frame func(received) error) error {
	r := &reading{wakec: make(chan struct{}, 1), frame: frame}
	var err error
	if r.sub, err = b.Subscribe(key, opts, r.wake); err != nil {
		return err
	}
	defer r.sub.Close()
	if err := begin(r.sub.Track()); err != nil {
		return err
	}
	for {
		if err := r.advance(); err != nil {
			return err
		}
		if _, _, complete, err := r.sub.End(); err != nil || complete && len(r.open) == 0 {
			return err
		}
		select {
		case <-r.wakec:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (r *reading) wake() {
	select {
	case r.wakec <- struct{}{}:
	default:
	}
}

// advance hands on all that is there.
func (r *reading) advance() error {
	for g, ok := r.sub.Next(); ok; g, ok = r.sub.Next() {
		r.insert(&assembly{GroupReader: g, got: received{group: g.Sequence()}})
	}
	for len(r.open) > 0 {
		over, err := r.open[0].read(r.frame)
		if err != nil {
			return err
		}
		if !over && !(len(r.open) > 1 && r.sub.Stale(&r.open[0].GroupReader)) {
			return nil
		}
		r.open = slices.Delete(r.open, 0, 1)
	}
	return nil
}

// insert puts a group in the order of numbers, but behind the one under way.
func (r *reading) insert(a *assembly) {
	at := len(r.open)
	for at > 0 && r.open[at-1].got.group > a.got.group && !r.open[at-1].begun {
		at--
	}
	r.open = slices.Insert(r.open, at, a)
}

// read hands on the whole frames that are there; over says that no more will come.
func (a *assembly) read(frame func(received) error) (over bool, err error) {
	for {
		p, state, ok, _ := a.Next()
		if !ok {
			return state != moq.Open, nil
		}
		if p.Start {
			a.got.index, a.got.Timestamp, a.got.Payload, a.size = p.Index, p.Timestamp, nil, p.Size
		}
		a.got.Payload = append(a.got.Payload, p.Payload...)
		if uint64(len(a.got.Payload)) < a.size {
			continue
		}
		a.begun = true
		if err := frame(a.got); err != nil {
			return false, err
		}
	}
}
