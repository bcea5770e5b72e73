package bench

import (
	"fmt"
	"io"
	"time"
)

// Print writes the result for people to read.
func (r *FanoutResult) Print(w io.Writer) error {
	l := r.Load
	fmt.Fprintf(w, "%s over %s: %v frames/s of %d bytes, %d a group, to %d viewers\n",
		r.Version, r.Transport, l.Rate, l.FrameBytes, l.GroupFrames, l.Viewers)
	fmt.Fprintf(w, "delivered   %d of %d frames (%.3f %%), %.1f Mbit/s; by viewer %.3f to %.3f %%\n",
		r.Delivered, r.Expected, 100*r.Share, r.Bitrate/1e6, 100*r.PerViewer.Min, 100*r.PerViewer.Max)
	fmt.Fprintf(w, "groups      %d whole, %d cut, %d skipped\n", r.Groups.Whole, r.Groups.Cut, r.Groups.Skipped)
	fmt.Fprintf(w, "latency     %v\n", r.Latency)
	fmt.Fprintf(w, "publisher   late by %v\n", r.Late)
	if u := r.Relay; u != nil {
		fmt.Fprintf(w, "relay       %.1f µs of CPU a frame; %v\n", r.FrameCPU, *u)
	}
	_, err := fmt.Fprintf(w, "load        %v\nothers      %.2f cores\n", r.Self, r.Others)
	return err
}

// String lists the quantiles.
func (q Quantiles) String() string {
	return fmt.Sprintf("p50 %v, p99 %v, p99.9 %v, max %v", micros(q.P50), micros(q.P99), micros(q.P999), micros(q.Max))
}

// micros is a figure of Quantiles as a time.
func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// String is the usage on one line.
func (u Usage) String() string {
	return fmt.Sprintf("%.1f %% of a core, %.1f MiB, %d + %d context switches",
		100*u.Share(), float64(u.RSS)/(1<<20), u.Voluntary, u.Involuntary)
}
