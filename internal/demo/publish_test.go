package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"image/jpeg"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/internal/synthetic"
	"github.com/moqmesh/moqmesh/moq"
)

// newest subscribes to a track and returns its newest group.
func newest(t *testing.T, b *moq.Broadcast, track string) moq.GroupReader {
	t.Helper()
	sub, err := b.Subscribe(moq.TrackKey{Name: track}, moq.SubscribeOptions{MaxAge: time.Second}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sub.Close)
	g, ok, err := sub.NextGroup(t.Context())
	if !ok || err != nil {
		t.Fatalf("group of %s: %v, %v", track, ok, err)
	}
	return g
}

func TestPublisher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := moq.NewBroadcast(moq.NewCache(0), nil)
		p, err := NewPublisher(b)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- p.Run(ctx) }()
		synctest.Wait() // the first picture is out
		g := newest(t, b, Track)
		for i := range GroupSize {
			f, ok, err := g.ReadFrame(t.Context())
			if !ok || err != nil {
				t.Fatalf("frame %d: %v, %v", i, ok, err)
			}
			if sent, ok := synthetic.Sent(f.Payload, time.Now()); !ok || !sent.Equal(time.Now()) {
				t.Errorf("frame %d was sent %v, want %v", i, sent, time.Now())
			}
			if _, err := jpeg.Decode(bytes.NewReader(f.Payload[synthetic.StampSize:])); err != nil {
				t.Errorf("frame %d: %v", i, err)
			}
		}
		if _, ok, err := g.ReadFrame(t.Context()); ok || err != nil {
			t.Errorf("after %d frames: %v, %v; want the group's end", GroupSize, ok, err)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestCatalog(t *testing.T) {
	b := moq.NewBroadcast(moq.NewCache(0), nil)
	if _, err := NewPublisher(b); err != nil {
		t.Fatal(err)
	}
	group := newest(t, b, CatalogTrack)
	f, ok, err := group.ReadFrame(t.Context())
	if !ok || err != nil {
		t.Fatalf("frame: %v, %v", ok, err)
	}
	var got Catalog
	if err := json.Unmarshal(f.Payload, &got); err != nil {
		t.Fatal(err)
	}
	if want := catalog(); got != want {
		t.Errorf("catalog %+v, want %+v", got, want)
	}
}
