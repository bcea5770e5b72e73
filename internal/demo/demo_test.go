package demo

import (
	"bytes"
	"context"
	"image/jpeg"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/internal/synthetic"
	"github.com/moqmesh/moqmesh/moq"
)

func TestPicturesMove(t *testing.T) {
	p := newPainter()
	seen := make(map[string]bool)
	for n := range uint64(3) {
		picture, err := p.paint(n)
		if err != nil {
			t.Fatal(err)
		}
		img, err := jpeg.Decode(bytes.NewReader(picture))
		if err != nil {
			t.Fatal(err)
		}
		if b := img.Bounds(); b.Dx() != Width || b.Dy() != Height {
			t.Errorf("picture %d is %v", n, b)
		}
		seen[string(picture)] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d different pictures of 3", len(seen))
	}
}

func TestPublish(t *testing.T) {
	b := moq.NewBroadcast(moq.NewCache(0), nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- Publish(ctx, b) }()
	var sub *moq.Subscription
	for sub == nil { // until the publisher has created its track
		sub, _ = b.Subscribe(moq.TrackKey{Name: Track}, moq.SubscribeOptions{MaxAge: time.Second}, nil)
	}
	g, ok, err := sub.NextGroup(t.Context())
	if !ok || err != nil {
		t.Fatalf("group: %v, %v", ok, err)
	}
	f, ok, err := g.ReadFrame(t.Context())
	if !ok || err != nil {
		t.Fatalf("frame: %v, %v", ok, err)
	}
	if _, ok := synthetic.Sent(f.Payload, time.Now()); !ok {
		t.Errorf("payload begins with %x, want a stamp", f.Payload[:8])
	}
	if _, err := jpeg.Decode(bytes.NewReader(f.Payload[synthetic.StampSize:])); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
