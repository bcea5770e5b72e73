package client_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/internal/certs"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// listen serves an origin on loopback, to everybody.
func listen(t *testing.T, versions []lite.Version) (addr string) {
	t.Helper()
	store, err := certs.New(certs.Config{Generate: []string{"localhost"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, err := transport.Listen(pc, transport.ListenConfig{ALPNs: transport.ALPNs(versions), TLS: store.TLS()})
	if err != nil {
		t.Fatal(err)
	}
	origin := moq.NewOrigin(session.RandomID(), moq.NewCache(0))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Serve(ctx, func(ctx context.Context, in *transport.Incoming) {
			v, _ := transport.VersionOf(in.ALPN)
			s, err := session.Handshake(ctx, in.Conn, session.Config{
				Server: true, Version: v, Legacy: transport.Legacy(versions), Setup: lite.Setup{Hop: origin.ID()},
			})
			if err != nil {
				t.Log("handshake:", err)
				return
			}
			s.Run(ctx, session.Access{Origin: origin})
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	return l.Addr().String()
}

func dial(t *testing.T, url string, v lite.Version, role lite.Role) (*client.Client, *moq.Origin) {
	t.Helper()
	origin := moq.NewOrigin(session.RandomID(), moq.NewCache(0))
	c, err := client.Dial(t.Context(), url, client.Config{
		Dial:     transport.DialConfig{TLS: &tls.Config{InsecureSkipVerify: true}, WebSocketDelay: -1},
		Versions: []lite.Version{v}, Origin: origin, Role: role,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return c, origin
}

// TestThroughRelay sends a few groups from one client to another.
func TestThroughRelay(t *testing.T) {
	for _, v := range []lite.Version{lite.V01, lite.V02, lite.V03, lite.V04, lite.V05, lite.V06WIP, lite.V06, lite.V07WIP} {
		for _, scheme := range []string{"moqt", "https"} {
			t.Run(fmt.Sprintf("%s/%s", v, scheme), func(t *testing.T) {
				t.Parallel()
				addr := listen(t, []lite.Version{v})
				throughRelay(t, scheme+"://"+addr+"/", v)
			})
		}
	}
}

func throughRelay(t *testing.T, url string, v lite.Version) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, pub := dial(t, url, v, lite.RolePublisher)
	b := moq.NewBroadcast(pub.Cache(), nil)
	track, err := b.Create("video", moq.TrackInfo{Priority: 1, MaxAge: 5 * time.Second, Timescale: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if err := track.WriteGroup(0, moq.Frame{Timestamp: 1, Payload: []byte("hello")}); err != nil {
		t.Fatal(err)
	}
	pub.Publish("room/cam", b)

	_, sub := dial(t, url, v, lite.RoleSubscriber)
	w := sub.Watch("", moq.Reader{})
	defer w.Close()
	ev, err := w.Wait(ctx)
	if err != nil {
		t.Fatal("announcement:", err)
	}
	if ev.Path != "room/cam" || ev.Change != moq.Started {
		t.Fatalf("event = %+v, want room/cam started", ev)
	}
	s, err := ev.Broadcast.Subscribe(moq.TrackKey{Name: "video"}, moq.SubscribeOptions{MaxAge: 5 * time.Second}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	expect(t, ctx, s, 0, "hello")
	big := make([]byte, 100_000)
	for i := range big {
		big[i] = byte(i)
	}
	if err := track.WriteGroup(1, moq.Frame{Timestamp: 2, Payload: big}, moq.Frame{Timestamp: 3, Payload: []byte("tail")}); err != nil {
		t.Fatal(err)
	}
	expect(t, ctx, s, 1, string(big), "tail")
	track.Finish()
	if _, ok, err := s.NextGroup(ctx); ok || err != nil {
		t.Fatalf("after the end: ok %v, err %v, want a clean end", ok, err)
	}
}

func expect(t *testing.T, ctx context.Context, s *moq.Subscription, sequence uint64, payloads ...string) {
	t.Helper()
	g, ok, err := s.NextGroup(ctx)
	if err != nil || !ok {
		t.Fatalf("next group: ok %v, err %v", ok, err)
	}
	if g.Sequence() != sequence {
		t.Fatalf("group %d, want %d", g.Sequence(), sequence)
	}
	for _, want := range payloads {
		f, ok, err := g.ReadFrame(ctx)
		if err != nil || !ok {
			t.Fatalf("frame: ok %v, err %v", ok, err)
		}
		if string(f.Payload) != want {
			t.Fatalf("payload of %d bytes, want %d", len(f.Payload), len(want))
		}
	}
	if _, ok, err := g.ReadFrame(ctx); ok || err != nil {
		t.Fatalf("after the last frame: ok %v, err %v", ok, err)
	}
}
