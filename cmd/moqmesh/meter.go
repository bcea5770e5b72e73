package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/internal/synthetic"
)

// tally is what has passed since the start.
type tally struct {
	Groups uint64 `json:"groups"`
	Frames uint64 `json:"frames"`
	Bytes  uint64 `json:"bytes"` // of payload
}

// meter counts what passes.
type meter struct {
	mu      sync.Mutex
	sum     tally
	group   uint64        // newest counted
	latency time.Duration // of the newest frame that tells
	known   bool          // latency is
}

// frame counts one frame.
func (m *meter) frame(group uint64, bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sum.Frames == 0 || group != m.group {
		m.sum.Groups++
		m.group = group
	}
	m.sum.Frames++
	m.sum.Bytes += uint64(bytes)
}

// late notes the latency of the newest frame.
func (m *meter) late(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.latency, m.known = d, true
}

func (m *meter) total() tally {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sum
}

// line is the progress after a time in which the sum grew from before.
func (m *meter) line(before tally, elapsed time.Duration) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := elapsed.Seconds()
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %.0f frames/s  %.1f groups/s  %d frames in all",
		bitrate(float64(m.sum.Bytes-before.Bytes)*8/s),
		float64(m.sum.Frames-before.Frames)/s, float64(m.sum.Groups-before.Groups)/s, m.sum.Frames)
	if m.known {
		fmt.Fprintf(&b, "  latency %.1f ms", milliseconds(m.latency))
	}
	return b.String()
}

// follow keeps the progress on a terminal until ctx ends.
func (m *meter) follow(ctx context.Context, con *console) {
	defer con.clear()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	before, at := m.total(), time.Now()
	for {
		select {
		case now := <-tick.C:
			con.show(m.line(before, now.Sub(at)))
			before, at = m.total(), now
		case <-ctx.Done():
			return
		}
	}
}

// watched runs work with the progress beside it, where there is somebody to see it.
func (m *meter) watched(ctx context.Context, con *console, visible bool, work func() error) error {
	if !con.terminal || !visible {
		return work()
	}
	var wg sync.WaitGroup
	ctx, stop := context.WithCancel(ctx)
	wg.Go(func() { m.follow(ctx, con) })
	defer wg.Wait()
	defer stop()
	return work()
}

// bitrate is a figure in bits per second for people.
func bitrate(bits float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}} {
		if bits >= u.size {
			return fmt.Sprintf("%.1f %s", bits/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.0f bit/s", bits)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// latencyOf tells how long a payload took, where it says when it was sent.
func latencyOf(payload []byte, now time.Time) (d time.Duration, ok bool) {
	sent, ok := synthetic.Sent(payload, now)
	return now.Sub(sent), ok
}
