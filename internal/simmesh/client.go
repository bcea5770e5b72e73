package simmesh

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"github.com/moqmesh/moqmesh/internal/simlink"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// member is a client of a relay.
type member struct {
	origin *moq.Origin
	served session.Counters // of the relay's end
	socket *simlink.Host
	leave  func() // closes the session and waits for its end
}

// attach brings a client to a relay.
func (m *Mesh) attach(to *Relay, o *moq.Origin, role lite.Role) *member {
	m.t.Helper()
	m.clients++
	c := &member{origin: o}
	at := fmt.Sprintf("10.1.%d.%d:1", m.clients>>8, m.clients&0xff)
	c.socket = m.net.Host(at, simlink.Line{Delay: m.latency})
	m.admit(at, c)
	s, err := client.Dial(m.t.Context(), to.url(), client.Config{
		Versions: []lite.Version{version}, Origin: c.origin, Role: role, Limits: limits,
		Dial: transport.DialConfig{
			TLS: &tls.Config{InsecureSkipVerify: true}, WebSocketDelay: -1,
			Listen: func(string) (net.PacketConn, error) { return c.socket, nil },
		},
	})
	if err != nil {
		m.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	c.leave = func() { stop(); <-done }
	m.t.Cleanup(c.leave)
	return c
}

// Ask has a client subscribe to a track of a broadcast, and says how the subscription ended and after what time. It
// waits for a minute at most.
func (m *Mesh) Ask(at, path, track string) (time.Duration, error) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), time.Minute)
	defer cancel()
	c := m.attach(m.Relay(at), moq.NewOrigin(1<<51, moq.NewCache(0)), lite.RoleSubscriber)
	defer c.leave()
	w := c.origin.Watch(path, moq.Reader{})
	defer w.Close()
	ev, err := w.Wait(ctx)
	if err != nil {
		m.t.Fatalf("%s does not announce %s", at, path)
	}
	start := time.Now()
	s, err := ev.Broadcast.Subscribe(moq.TrackKey{Name: track}, moq.SubscribeOptions{}, nil)
	if err == nil {
		defer s.Close()
		_, _, err = s.NextGroup(ctx)
	}
	return time.Since(start), err
}
