package bench

import (
	"context"
	"slices"

	"github.com/moqmesh/moqmesh/moq"
)

// viewer reads one subscription and counts. Groups are read side by side, so
// that a stuck one does not make those after it look late.
type viewer struct {
	load    Load
	win     window
	clock   *clock // of stamps
	latency phases

	tally tally
	open  []*reading
}

// reading is a group under way.
type reading struct {
	moq.GroupReader
	head   [stampBytes]byte
	got    int    // bytes of the frame under way
	size   int    // of the frame under way
	frames uint64 // whole ones
}

// run reads until the subscription or ctx ends.
func (v *viewer) run(ctx context.Context, b *moq.Broadcast) error {
	wakec := make(chan struct{}, 1)
	wake := func() {
		select {
		case wakec <- struct{}{}:
		default:
		}
	}
	sub, err := b.Subscribe(moq.TrackKey{Name: trackName}, moq.SubscribeOptions{Priority: 128, MaxAge: maxAge}, wake)
	if err != nil {
		return err
	}
	defer sub.Close()
	defer v.close()
	for {
		v.read(sub)
		if _, _, complete, err := sub.End(); err != nil || complete && len(v.open) == 0 {
			return err
		}
		select {
		case <-wakec:
		case <-ctx.Done():
			return nil
		}
	}
}

// read takes all that is there.
func (v *viewer) read(sub *moq.Subscription) {
	for {
		r, ok := sub.Next()
		if !ok {
			break
		}
		v.open = append(v.open, &reading{GroupReader: r})
	}
	v.open = slices.DeleteFunc(v.open, v.advance)
}

// advance reads on in a group; true when it is over.
func (v *viewer) advance(g *reading) bool {
	for {
		p, state, ok, _ := g.Next()
		if !ok {
			if state != moq.Open {
				v.end(g)
			}
			return state != moq.Open
		}
		if p.Start {
			g.got, g.size = 0, int(p.Size)
		}
		if g.got < stampBytes {
			copy(g.head[g.got:], p.Payload)
		}
		if g.got += len(p.Payload); g.got == g.size && g.size >= stampBytes {
			v.frame(g)
		}
	}
}

// frame counts a frame that is whole.
func (v *viewer) frame(g *reading) {
	g.frames++
	s := readStamp(g.head[:])
	now := v.clock.now()
	if now >= v.load.due(v.win.first) && now < v.load.due(v.win.end) {
		v.tally.arrived++
		v.tally.bytes += uint64(g.size)
	}
	if v.win.contains(s.number) {
		v.tally.frames++
		v.latency.record(s.number, now-s.due)
	}
}

// end counts a group that is over.
func (v *viewer) end(g *reading) {
	switch {
	case !v.win.contains(g.Sequence() * uint64(v.load.GroupFrames)):
	case g.frames == uint64(v.load.GroupFrames):
		v.tally.whole++
	case g.frames > 0:
		v.tally.cut++
	}
}

// close counts the groups that were never ended.
func (v *viewer) close() {
	for _, g := range v.open {
		v.end(g)
	}
}
