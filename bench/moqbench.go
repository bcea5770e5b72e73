package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"
)

// Agreement compares the two generators on one relay: relay CPU for each
// delivered frame, in microseconds.
type Agreement struct {
	Relay    string    `json:"relay"`
	Scheme   string    `json:"scheme"`
	Load     Load      `json:"load"`
	Ours     []float64 `json:"fanout_us_per_frame"`
	MoqBench []float64 `json:"moq_bench_us_per_frame"`
}

// Ratio is the median of ours over that of moq-bench; 0 = unknown.
func (a Agreement) Ratio() float64 {
	theirs := spreadOf(a.MoqBench).Median
	if theirs == 0 {
		return 0
	}
	return spreadOf(a.Ours).Median / theirs
}

// secondShape names the load for the second generator: its groups begin with a
// small frame of their own, which only long groups hide.
const secondShape = "sd"

// secondPairs is how often the generators take turns.
const secondPairs = 5

// second measures one relay with both generators in turn, so that a machine that
// grows slower meanwhile weighs on both.
func (c *comparison) second(ctx context.Context, r *running) error {
	i := slices.IndexFunc(c.cfg.Loads, func(l Load) bool { return l.Name == secondShape })
	if i < 0 {
		return nil
	}
	a := Agreement{Relay: r.Name, Scheme: c.cfg.Schemes[0], Load: c.cfg.Loads[i]}
	for range secondPairs {
		ours, err := c.fanout(ctx, r, a.Scheme, a.Load)
		if err != nil {
			return err
		}
		us, err := c.moqBench(ctx, r, a.Scheme, a.Load)
		if err != nil {
			return fmt.Errorf("moq-bench: %w", err)
		}
		a.Ours, a.MoqBench = append(a.Ours, ours.FrameCPU), append(a.MoqBench, us)
		fmt.Fprintf(c.cfg.Progress, "%s by moq-bench: %.1f µs a frame, %.1f by fanout\n", r.Name, us, ours.FrameCPU)
	}
	c.report.Agreement = append(c.report.Agreement, a)
	return nil
}

// moqBench is relay CPU for each frame that moq-bench's viewers count.
func (c *comparison) moqBench(ctx context.Context, r *running, scheme string, load Load) (us float64, err error) {
	ctx, stop := context.WithCancel(ctx)
	name := fmt.Sprintf("second-%d", time.Now().UnixNano())
	publisher := c.moqBenchCommand(ctx, r, scheme, load, name, "--connections", "1", "--broadcasts", "1", "--subscribe", "0")
	viewers := c.moqBenchCommand(ctx, r, scheme, load, name, "--connections", strconv.Itoa(load.Viewers),
		"--broadcasts", "0", "--subscribe", "1", "--startup", c.cfg.Ramp.String(), "--report", "500ms", "--output", "/dev/fd/3")
	lines, write, err := os.Pipe()
	if err != nil {
		stop()
		return 0, err
	}
	defer lines.Close()
	viewers.ExtraFiles = []*os.File{write}
	err = startBoth(publisher, viewers)
	write.Close()
	if err != nil {
		stop()
		return 0, err
	}
	defer func() { stop(); publisher.Wait(); viewers.Wait() }()
	return measureLines(lines, &meter{pid: r.pid()}, load, c.cfg.Warmup, c.cfg.Window)
}

// startBoth starts two commands, or none.
func startBoth(first, second *exec.Cmd) error {
	if err := first.Start(); err != nil {
		return err
	}
	if err := second.Start(); err != nil {
		first.Process.Kill()
		first.Wait()
		return err
	}
	return nil
}

func (c *comparison) moqBenchCommand(ctx context.Context, r *running, scheme string, load Load, name string, more ...string) *exec.Cmd {
	args := append([]string{
		"--client-connect", r.url(scheme), "--client-tls-disable-verify", "--client-version", c.cfg.Version.String(),
		"--name", name, "--fps", strconv.FormatFloat(load.Rate, 'g', -1, 64),
		"--frame-size", strconv.Itoa(load.FrameBytes), "--group-size", strconv.Itoa(load.GroupFrames - 1),
	}, more...)
	return pinned(ctx, c.cfg.LoadCPUs, c.cfg.MoqBench, args...)
}

// benchLine is what moq-bench writes at each report: counts since its start.
type benchLine struct {
	Subscriptions int    `json:"subscriptions"`
	Frames        uint64 `json:"frames_recv"`
}

// measureLines reads the process at a line after the warm-up and at one after
// the window, and divides by the frames between. The warm-up begins when all
// viewers have subscribed.
func measureLines(lines io.Reader, m *meter, load Load, warmup, window time.Duration) (float64, error) {
	var ready time.Time
	var first benchLine
	for scan := bufio.NewScanner(lines); scan.Scan(); {
		var line benchLine
		if err := json.Unmarshal(scan.Bytes(), &line); err != nil {
			return 0, fmt.Errorf("read a report: %w", err)
		}
		switch {
		case line.Subscriptions < load.Viewers:
		case ready.IsZero():
			ready = time.Now()
		case m.begun.IsZero():
			if time.Since(ready) >= warmup {
				first = line
				if err := m.begin(); err != nil {
					return 0, err
				}
			}
		case time.Since(m.begun) >= window:
			usage, err := m.end()
			if err == nil && line.Frames <= first.Frames {
				err = errors.New("no frames came")
			}
			if err != nil {
				return 0, err
			}
			return float64(usage.CPU.Microseconds()) / float64(line.Frames-first.Frames), nil
		}
	}
	return 0, errors.New("it ended too early")
}
