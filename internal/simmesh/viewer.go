package simmesh

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// Viewer is a client that watches one broadcast. It subscribes again whenever its subscription ends.
type Viewer struct {
	*member
	relay *Relay
	path  string

	mu      sync.Mutex // guards what follows
	seen    map[groupID]*seen
	last    time.Time // when the last whole group came
	longest time.Duration
	resets  int
	running int // 1 while subscribed
}

// groupID names a group: what publishers send says who they are.
type groupID struct{ publisher, sequence uint64 }

// seen is a group that has begun to arrive.
type seen struct {
	whole bool
	at    time.Time // when it was whole
}

// Tally is what a viewer got of one publisher.
type Tally struct {
	First, Last uint64   // of the groups that came whole
	Whole       int      // groups that came whole
	Missing     []uint64 // between First and Last
	Resets      int      // subscriptions that ended, of whatever publisher
	Twice       int      // group streams of groups that had begun before, of whatever publisher; only where Resets is 0
	// Longest is the longest time without a whole group, of whatever publisher.
	Longest time.Duration
}

// Subscribe has a client watch a broadcast at a relay, now or when it is announced, from the oldest group on.
func (m *Mesh) Subscribe(at, path string) *Viewer {
	m.t.Helper()
	v := &Viewer{relay: m.Relay(at), path: path, seen: make(map[groupID]*seen)}
	v.member = m.attach(v.relay, moq.NewOrigin(1<<50+uint64(m.clients), moq.NewCache(0)), lite.RoleSubscriber)
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() { v.watch(ctx, &watching) })
	m.t.Cleanup(func() { cancel(); watching.Wait() })
	return v
}

// Via is the relay that the viewer's relay pulls from, "" where that is a client.
func (v *Viewer) Via() string { return v.relay.Via(v.path) }

// Subscribed says whether a subscription runs.
func (v *Viewer) Subscribed() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.running > 0
}

// watch subscribes again and again.
func (v *Viewer) watch(ctx context.Context, reading *sync.WaitGroup) {
	w := v.origin.Watch(v.path, moq.Reader{})
	defer w.Close()
	for {
		if b, _, err := v.origin.Find(v.path, moq.Reader{}); err == nil {
			v.read(ctx, b, reading)
		}
		if _, err := w.Wait(ctx); err != nil {
			return
		}
	}
}

// read reads a broadcast until the subscription ends.
func (v *Viewer) read(ctx context.Context, b *moq.Broadcast, reading *sync.WaitGroup) {
	all := moq.SubscribeOptions{MaxAge: media.MaxAge, Start: moq.Start{Kind: moq.StartFresh}}
	s, err := b.Subscribe(moq.TrackKey{Name: trackName}, all, nil)
	if err != nil {
		return
	}
	defer s.Close()
	v.count(1, 0)
	defer v.count(-1, 0)
	for {
		r, ok, err := s.NextGroup(ctx)
		if !ok {
			if err != nil && ctx.Err() == nil {
				v.count(0, 1)
			}
			return
		}
		reading.Go(func() { v.take(ctx, r) })
	}
}

func (v *Viewer) count(running, resets int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.running += running
	v.resets += resets
}

// take reads one group.
func (v *Viewer) take(ctx context.Context, r moq.GroupReader) {
	var id groupID
	for n := 0; ; n++ {
		f, ok, err := r.ReadFrame(ctx)
		switch {
		case err != nil:
			return
		case !ok:
			v.finish(id, n == frames)
			return
		}
		publisher, _, _ := bytes.Cut(f.Payload, []byte("/"))
		id = groupID{number(publisher), r.Sequence()}
		if !bytes.Equal(f.Payload, payload(id.publisher, id.sequence, n)) {
			return
		}
		v.begin(id)
	}
}

func number(b []byte) (n uint64) {
	for _, c := range b {
		n = 10*n + uint64(c-'0')
	}
	return n
}

func (v *Viewer) begin(id groupID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.seen[id] == nil {
		v.seen[id] = new(seen)
	}
}

func (v *Viewer) finish(id groupID, whole bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.seen[id]
	if s == nil || !whole {
		return
	}
	s.whole, s.at = true, time.Now()
	if !v.last.IsZero() {
		v.longest = max(v.longest, s.at.Sub(v.last))
	}
	v.last = s.at
}

// Tally sums up what came from one publisher.
func (v *Viewer) Tally(p *Publisher) Tally {
	v.mu.Lock()
	defer v.mu.Unlock()
	t := Tally{Resets: v.resets, Longest: v.longest, First: 1 << 63}
	for id, s := range v.seen {
		if id.publisher == p.id && s.whole {
			t.Whole++
			t.First, t.Last = min(t.First, id.sequence), max(t.Last, id.sequence)
		}
	}
	for n := t.First; n < t.Last; n++ {
		if s := v.seen[groupID{p.id, n}]; s == nil || !s.whole {
			t.Missing = append(t.Missing, n)
		}
	}
	t.Twice = int(v.served.Egress.Groups.Load()) - len(v.seen)
	return t
}

// Since says how many groups of a publisher came whole after a time.
func (v *Viewer) Since(p *Publisher, at time.Time) (n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, s := range v.seen {
		if id.publisher == p.id && s.whole && s.at.After(at) {
			n++
		}
	}
	return n
}
