package synthetic

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/moq"
)

func TestPublish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 950*time.Millisecond)
		defer cancel()
		b := moq.NewBroadcast(moq.NewCache(0), nil)
		var told int
		cfg := Config{Rate: 10, FrameSize: 20, GroupSize: 4, Wrote: func(uint64, int) { told++ }}
		if err := Publish(ctx, b, cfg); err != nil {
			t.Fatal(err)
		}
		if told != 10 {
			t.Errorf("told of %d frames, want 10", told)
		}
		s, err := b.Subscribe(moq.TrackKey{Name: Track}, moq.SubscribeOptions{
			MaxAge: moq.Unlimited, Start: moq.Start{Kind: moq.StartAt},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		frames := 0
		for {
			g, ok, err := s.NextGroup(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			frames += readGroup(t, g, frames)
		}
		if frames != 10 {
			t.Errorf("read %d frames of complete groups, want 10, the last group being short", frames)
		}
	})
}

// readGroup reads a group to its end. before is the number of frames ahead of it.
func readGroup(t *testing.T, g moq.GroupReader, before int) (frames int) {
	t.Helper()
	for {
		f, ok, err := g.ReadFrame(t.Context())
		if err != nil {
			t.Fatalf("group %d: %v", g.Sequence(), err)
		}
		if !ok {
			return frames
		}
		sent, ok := Sent(f.Payload, time.Now())
		ago, want := time.Since(sent), 950*time.Millisecond-time.Duration(before+frames)*100*time.Millisecond
		if !ok || ago != want {
			t.Errorf("frame %d was sent %v ago (%t), want %v", before+frames, ago, ok, want)
		}
		frames++
	}
}

func TestPublishAfterAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		stopped, frames := false, 0
		cfg := Config{Rate: 10, Wrote: func(uint64, int) {
			if frames++; !stopped {
				stopped = true
				time.Sleep(30 * time.Second) // as if the process had been suspended
			}
		}}
		if err := Publish(ctx, moq.NewBroadcast(moq.NewCache(0), nil), cfg); err != nil {
			t.Fatal(err)
		}
		if frames < 300 || frames > 302 {
			t.Errorf("%d frames, want about 300: the pace starts anew", frames)
		}
	})
}

func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		cfg  Config
		want string
	}{
		{Config{}, ""},
		{Config{FrameSize: StampSize, GroupSize: moq.MaxFrames}, ""},
		{Config{Rate: -1}, "rate"},
		{Config{FrameSize: StampSize - 1}, "frame size"},
		{Config{GroupSize: moq.MaxFrames + 1}, "group size"},
		{Config{FrameSize: 1 << 20, GroupSize: 32}, "exceeds"},
	} {
		err := tc.cfg.Check()
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("Check(%+v) = %v, want %q", tc.cfg, err, tc.want)
		}
	}
}

func TestSent(t *testing.T) {
	now := time.Now()
	var payload [StampSize]byte
	Stamp(payload[:], now.Add(-time.Second))
	if sent, ok := Sent(payload[:], now); !ok || now.Sub(sent) != time.Second {
		t.Errorf("Sent = %v, %t, want a second ago", sent, ok)
	}
	for _, payload := range []string{"", "short", "not a stamp at all"} {
		if _, ok := Sent([]byte(payload), now); ok {
			t.Errorf("Sent(%q) found a stamp", payload)
		}
	}
}
