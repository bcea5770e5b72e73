package simmesh

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

const (
	// Every is the time between two groups of a publisher.
	Every = 100 * time.Millisecond
	// frames is how many a group has, one after the other until the next group begins.
	frames = 3
	// trackName is what publishers publish and viewers watch.
	trackName = "v"
)

// media lets groups be late by more than it takes to notice that a link is cut.
var media = moq.TrackInfo{Priority: 9, MaxAge: 30 * time.Second, Timescale: 1000}

// Publisher is a client that publishes one broadcast.
type Publisher struct {
	*member
	m            *Mesh
	id           uint64
	announcement *moq.Announcement
	stop         func() // and waits until no group is being written

	mu   sync.Mutex
	next uint64
}

// Publishing is what is special about a publisher.
type Publishing struct {
	ID        uint64 // its hop id; 0 = one of its own
	Anonymous bool   // it has no hop id
	Cost      uint64 // that of a standby
}

// Publish has a client publish a broadcast at a relay, a group every 100 ms, from group 0 on.
func (m *Mesh) Publish(at, path string) *Publisher {
	m.t.Helper()
	return m.PublishAs(at, path, Publishing{})
}

// PublishAs is Publish for a client that is somebody special.
func (m *Mesh) PublishAs(at, path string, as Publishing) *Publisher {
	m.t.Helper()
	switch {
	case as.Anonymous:
		as.ID = 0
	case as.ID == 0:
		as.ID = 1<<40 + uint64(m.clients)
	}
	p := &Publisher{m: m, id: as.ID, member: m.attach(m.Relay(at), moq.NewOrigin(as.ID, moq.NewCache(0)), lite.RolePublisher)}
	b := moq.NewBroadcast(p.origin.Cache(), nil)
	w, err := b.Create(trackName, media)
	if err != nil {
		m.t.Fatal(err)
	}
	p.announcement = p.origin.PublishAt(path, b, as.Cost)
	ctx, cancel := context.WithCancel(context.Background())
	var writing sync.WaitGroup
	writing.Go(func() { p.write(ctx, w) })
	p.stop = func() { cancel(); writing.Wait() }
	m.t.Cleanup(p.stop)
	return p
}

// Reconnect loses all that the session says from now on, and goes on in another one at a relay, which may be the same.
func (p *Publisher) Reconnect(at string) {
	p.m.t.Helper()
	p.Crash()
	p.member = p.m.attach(p.m.Relay(at), p.origin, lite.RolePublisher)
}

// ID is its hop id; 0 = it has none.
func (p *Publisher) ID() uint64 { return p.id }

// write publishes until ctx ends, and then the group under way.
func (p *Publisher) write(ctx context.Context, w *moq.TrackWriter) {
	for n := uint64(0); ctx.Err() == nil; n++ {
		g, err := w.Group(n)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.next = n + 1
		p.mu.Unlock()
		for i := range frames {
			at := uint64((time.Duration(n)*Every + time.Duration(i)*Every/frames).Milliseconds())
			g.WriteFrame(moq.Frame{Timestamp: at, Payload: payload(p.id, n, i)})
			time.Sleep(Every / frames)
		}
		g.Close()
	}
}

func payload(publisher, group uint64, frame int) []byte {
	return fmt.Appendf(nil, "%d/%d/%d", publisher, group, frame)
}

// Pause ends the flow of groups and says how many there were. The broadcast stays.
func (p *Publisher) Pause() uint64 {
	p.stop()
	return p.Groups()
}

// Groups is how many have begun.
func (p *Publisher) Groups() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next
}

// SetCost changes the price of a standby.
func (p *Publisher) SetCost(cost uint64) { p.announcement.SetCost(cost) }

// Withdraw ends the announcement; what runs goes on.
func (p *Publisher) Withdraw() { p.announcement.Withdraw() }

// Leave ends the session; the relay is told.
func (p *Publisher) Leave() {
	p.stop()
	p.leave()
}

// Crash loses all that it says from now on. Nobody is told.
func (p *Publisher) Crash() { p.socket.Cut() }
