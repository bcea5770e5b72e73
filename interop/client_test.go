package interop

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/internal/certs"
	model "github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// TestOurClient publishes and subscribes with our library through each relay, over
// each transport and in each version that both speak.
func TestOurClient(t *testing.T) {
	if testing.Short() {
		t.Skip("interop takes minutes")
	}
	for _, name := range []string{"ours", "rust", "rust-0.14.12"} {
		t.Run(name, func(t *testing.T) {
			k := kinds[name]
			all := append(slices.Clone(k.versions), k.optIn...)
			r := startKind(t, k, relayConfig{versions: all})
			for _, scheme := range []string{"moqt", "https", "ws"} {
				for _, version := range all {
					t.Run(scheme+"/"+version, func(t *testing.T) { ourClientCell(t, r, scheme, version) })
				}
			}
		})
	}
}

func ourClientCell(t *testing.T, r *relay, scheme, version string) {
	v, err := lite.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	url := scheme + "://" + r.addr + "/"
	name := unique("room") + "/cam"

	pub := connectOurs(t, ctx, r, url, v, lite.RolePublisher)
	b := model.NewBroadcast(pub.Cache(), nil)
	track, err := b.Create("data", model.TrackInfo{Priority: 3, MaxAge: 5 * time.Second, Timescale: 1000})
	if err != nil {
		t.Fatal(err)
	}
	pub.Publish(name, b)

	sub := connectOurs(t, ctx, r, url, v, lite.RoleSubscriber)
	w := sub.Watch(name, model.Reader{})
	defer w.Close()
	ev, err := w.Wait(ctx)
	if err != nil {
		t.Fatalf("announcement of %s: %v", name, err)
	}
	if err := track.WriteGroup(0, model.Frame{Timestamp: 5, Payload: []byte("first")}); err != nil {
		t.Fatal(err)
	}
	s, err := ev.Broadcast.Subscribe(model.TrackKey{Suffix: "", Name: "data"}, model.SubscribeOptions{MaxAge: 5 * time.Second}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	expectGroup(t, ctx, s, 0, "first")
	large := string(make([]byte, 60_000))
	if err := track.WriteGroup(1, model.Frame{Timestamp: 10, Payload: []byte(large)}, model.Frame{Timestamp: 20, Payload: []byte("tail")}); err != nil {
		t.Fatal(err)
	}
	expectGroup(t, ctx, s, 1, large, "tail")
	if v.HasFetch() {
		fetchOurs(t, ctx, ev.Broadcast, 0, "first")
	}
	track.Finish()
	if _, ok, err := s.NextGroup(ctx); ok || err != nil {
		t.Fatalf("end of track: ok %v, err %v, want a clean end", ok, err)
	}
}

// connectOurs keeps a session of our library up for the test.
func connectOurs(t *testing.T, ctx context.Context, r *relay, url string, v lite.Version, role lite.Role) *model.Origin {
	t.Helper()
	tlsConf, err := certs.ClientTLS(ctx, certs.ClientConfig{Fingerprints: []string{r.fingerprint}})
	if err != nil {
		t.Fatal(err)
	}
	origin := model.NewOrigin(session.RandomID(), model.NewCache(0))
	c, err := client.Dial(ctx, url, client.Config{
		Dial:     transport.DialConfig{TLS: tlsConf, WebSocketDelay: -1},
		Versions: []lite.Version{v}, Origin: origin, Role: role,
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Version() != v {
		t.Fatalf("negotiated %s, want %s", c.Version(), v)
	}
	running, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(running)
	}()
	t.Cleanup(func() { stop(); <-done })
	return origin
}

func expectGroup(t *testing.T, ctx context.Context, s *model.Subscription, sequence uint64, payloads ...string) {
	t.Helper()
	g, ok, err := s.NextGroup(ctx)
	if err != nil || !ok || g.Sequence() != sequence {
		t.Fatalf("next group: %d, ok %v, err %v, want %d", sequenceOf(g, ok), ok, err, sequence)
	}
	expectFrames(t, ctx, &g, payloads...)
}

func sequenceOf(g model.GroupReader, ok bool) uint64 {
	if !ok {
		return 0
	}
	return g.Sequence()
}

func expectFrames(t *testing.T, ctx context.Context, g *model.GroupReader, payloads ...string) {
	t.Helper()
	for i, want := range payloads {
		f, ok, err := g.ReadFrame(ctx)
		if err != nil || !ok || string(f.Payload) != want {
			t.Fatalf("frame %d: %d bytes, ok %v, err %v, want %d bytes", i, len(f.Payload), ok, err, len(want))
		}
	}
	if _, ok, err := g.ReadFrame(ctx); ok || err != nil {
		t.Fatalf("after the last frame: ok %v, err %v", ok, err)
	}
}

func fetchOurs(t *testing.T, ctx context.Context, b *model.Broadcast, sequence uint64, payload string) {
	t.Helper()
	track, err := b.Hold(model.TrackKey{Name: "data"})
	if err != nil {
		t.Fatal(err)
	}
	defer track.Drop()
	f, err := track.Fetch(ctx, sequence, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	expectFrames(t, ctx, &f.GroupReader, payload)
	missing, err := track.Fetch(ctx, 999, 0, 0)
	if err == nil {
		defer missing.Close()
		_, _, err = missing.ReadFrame(ctx)
	}
	if !errors.Is(err, model.ErrNotFound) {
		t.Fatalf("fetch of a group that never was: %v, want not found", err)
	}
}
