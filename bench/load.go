package bench

import (
	"fmt"
	"slices"
	"time"
)

// Load is what the publisher sends and how many watch it.
type Load struct {
	Name        string  `json:"name"`
	Rate        float64 `json:"rate"`         // frames per second
	FrameBytes  int     `json:"frame_bytes"`  // payload of one frame
	GroupFrames int     `json:"group_frames"` // frames of one group
	Viewers     int     `json:"viewers"`
}

// Shapes are the loads that relays are compared with: chat messages and audio
// frames in groups of their own, and two qualities of video.
var Shapes = []Load{
	{Name: "chat", Rate: 10, FrameBytes: 300, GroupFrames: 1, Viewers: 100},
	{Name: "audio", Rate: 50, FrameBytes: 240, GroupFrames: 1, Viewers: 100},
	{Name: "sd", Rate: 30, FrameBytes: 4000, GroupFrames: 60, Viewers: 50},
	{Name: "hd", Rate: 30, FrameBytes: 25000, GroupFrames: 60, Viewers: 30},
}

// LoadsNamed picks from Shapes; all of them for no names.
func LoadsNamed(names []string) (picked []Load, err error) {
	if len(names) == 0 {
		return Shapes, nil
	}
	for _, name := range names {
		i := slices.IndexFunc(Shapes, func(l Load) bool { return l.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown load %q", name)
		}
		picked = append(picked, Shapes[i])
	}
	return picked, nil
}

// Check says what is wrong with the load, or nil.
func (l Load) Check() error {
	switch {
	case l.Rate <= 0 || l.Rate > 100_000:
		return fmt.Errorf("rate %v: want above 0, at most 100000 frames per second", l.Rate)
	case l.FrameBytes < stampBytes || l.FrameBytes > 16<<20:
		return fmt.Errorf("frame size %d: want %d to %d bytes", l.FrameBytes, stampBytes, 16<<20)
	case l.GroupFrames < 1 || l.GroupFrames > 8192 || l.GroupFrames*l.FrameBytes > 16<<20:
		return fmt.Errorf("group size %d: want 1 to 8192 frames and at most 16 MiB", l.GroupFrames)
	case l.Viewers < 1 || l.Viewers > 100_000:
		return fmt.Errorf("viewers %d: want 1 to 100000", l.Viewers)
	}
	return nil
}

// due is when frame n is due, counted from frame 0.
func (l Load) due(n uint64) time.Duration {
	return time.Duration(float64(n) / l.Rate * float64(time.Second))
}

// window is the measured span of frames, of whole groups.
type window struct {
	first, end uint64 // frame numbers; end is one past the last
}

// window covers about length, after at least warmup.
func (l Load) window(warmup, length time.Duration) window {
	group := uint64(l.GroupFrames)
	groups := func(d time.Duration) uint64 { return uint64(d.Seconds() * l.Rate / float64(group)) }
	first := (groups(warmup) + 1) * group
	return window{first: first, end: first + max(groups(length), 1)*group}
}

func (w window) frames() uint64              { return w.end - w.first }
func (w window) contains(number uint64) bool { return number >= w.first && number < w.end }
