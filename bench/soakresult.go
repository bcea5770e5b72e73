package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// SoakResult is what a soak found.
type SoakResult struct {
	Date    time.Time  `json:"date"`
	Machine Machine    `json:"machine"`
	Command []string   `json:"command"`
	Relay   RelayAbout `json:"relay"`
	// Idle and Stopped are the sessions beside the viewers of Fanout.
	Idle    int    `json:"idle_sessions"`
	Stopped int    `json:"stopped_viewers"`
	Memory  Memory `json:"relay_memory"`
	// IdleHeld and StoppedHeld say how the sessions of each fared.
	IdleHeld    Held         `json:"idle"`
	StoppedHeld Held         `json:"stopped"`
	Fanout      FanoutResult `json:"viewers"`
}

// Memory is the relay's, in bytes of its resident set; 0 = unknown.
type Memory struct {
	Empty uint64 `json:"empty_bytes"` // before the first session
	Idle  uint64 `json:"idle_bytes"`  // with all idle sessions
}

func newSoakResult(ctx context.Context, cfg SoakConfig) *SoakResult {
	r := &SoakResult{
		Date: time.Now().UTC().Truncate(time.Second), Machine: thisMachine(), Command: os.Args,
		Relay: RelayAbout{Name: "relay at " + cfg.URL}, Idle: cfg.Idle, Stopped: cfg.Stopped,
	}
	if cfg.Relay.Program != "" {
		r.Relay = cfg.Relay.about(ctx)
	}
	return r
}

// IdleBytes is the relay's memory for each idle session; 0 = unknown.
func (r *SoakResult) IdleBytes() uint64 { return each(r.Memory.Empty, r.Memory.Idle, r.Idle) }

// ViewerBytes is the relay's memory for each viewer, those that are stopped now
// and then included, in the phase in which it was least; 0 = unknown. It holds
// garbage that was not collected yet.
func (r *SoakResult) ViewerBytes() uint64 {
	var least uint64
	for _, p := range r.Fanout.Phases {
		if p.Relay != nil && (least == 0 || p.Relay.RSS < least) {
			least = p.Relay.RSS
		}
	}
	if least == 0 {
		return 0
	}
	return each(r.Memory.Idle, least, r.Fanout.Load.Viewers+r.Stopped)
}

// each is a share of what memory grew by.
func each(from, to uint64, sessions int) uint64 {
	if sessions == 0 {
		return 0
	}
	return (max(from, to) - from) / uint64(sessions)
}

// Err says what went wrong for sessions that should have noticed nothing, or nil.
func (r *SoakResult) Err() error {
	var errs []error
	if f := r.Fanout; f.Delivered < f.Expected {
		errs = append(errs, fmt.Errorf("%d of %d frames reached the viewers that were never stopped", f.Delivered, f.Expected))
	}
	if n := r.Idle - r.IdleHeld.Open; n > 0 {
		errs = append(errs, fmt.Errorf("%d idle sessions ended", n))
	}
	return errors.Join(errs...)
}

// Table is the result in Markdown.
func (r *SoakResult) Table() string {
	var b strings.Builder
	f, kB := r.Fanout, func(n uint64) float64 { return float64(n) / 1e3 }
	fmt.Fprintf(&b, "# Soak, %s on %s\n\n", r.Date.Format("2006-01-02"), r.Machine.Host)
	fmt.Fprintf(&b, "%s; %s; %s over %s. `%s`\n\n", r.Machine, r.Relay, f.Version, f.Transport, strings.Join(r.Command, " "))
	fmt.Fprintf(&b, "%v frames a second of %d bytes, %d a group, to %d viewers that always watch and %d that are stopped now and then, beside %d idle sessions.\n\n",
		f.Load.Rate, f.Load.FrameBytes, f.Load.GroupFrames, f.Load.Viewers, r.Stopped, r.Idle)
	b.WriteString("| phase | those are | delivered | p50 | p99 | most | relay, of a core | load, of a core | relay memory |\n|---|---|---|---|---|---|---|---|---|\n")
	for i, p := range f.Phases {
		fmt.Fprintf(&b, "| %d | %s | %d of %d | %v | %v | %v | %s | %s | %s |\n", i+1, during(i),
			p.Delivered, p.Expected, micros(p.Latency.P50), micros(p.Latency.P99), micros(p.Latency.Max),
			known(p.Relay, core), core(p.Self), known(p.Relay, memory))
	}
	fmt.Fprintf(&b, "\np99 of the viewers that always watch: %s ms while the others ran, %s ms while they were stopped, %s ms while they caught up (median; least and most).\n",
		r.p99(crowdRuns).format("%.1f"), r.p99(crowdStopped).format("%.1f"), r.p99(crowdCatchesUp).format("%.1f"))
	fmt.Fprintf(&b, "Relay memory: %.0f kB for each idle session, %.0f kB for each viewer. Groups: %d whole, %d cut, %d skipped. Others used %.2f cores.\n",
		kB(r.IdleBytes()), kB(r.ViewerBytes()), f.Groups.Whole, f.Groups.Cut, f.Groups.Skipped, f.Others)
	fmt.Fprintf(&b, "Idle sessions open at the end: %d of %d. Of the %d that were stopped, %d were, and had read %d frames.\n",
		r.IdleHeld.Open, r.Idle, r.Stopped, r.StoppedHeld.Open, r.StoppedHeld.Frames)
	if err := r.Err(); err != nil {
		fmt.Fprintf(&b, "\nFailed: %v\n", err)
	}
	return b.String()
}

func core(u Usage) string   { return fmt.Sprintf("%.0f %%", 100*u.Share()) }
func memory(u Usage) string { return fmt.Sprintf("%.0f MB", float64(u.RSS)/1e6) }

// known is a figure of a process, if that was read.
func known(u *Usage, figure func(Usage) string) string {
	if u == nil {
		return "?"
	}
	return figure(*u)
}

// p99 is the spread over the phases in which the crowd does the same, in
// milliseconds.
func (r *SoakResult) p99(state string) Spread {
	var all []float64
	for i, p := range r.Fanout.Phases {
		if during(i) == state {
			all = append(all, float64(p.Latency.P99)/1e3)
		}
	}
	return spreadOf(all)
}

// Write stores the result as DATE-HOST-soak.json and .md in a folder and returns
// the path of the first.
func (r *SoakResult) Write(dir string) (string, error) {
	raw, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return "", err
	}
	base := resultName(r.Date, r.Machine.Host) + "-soak"
	return writeResult(dir, base, map[string][]byte{".json": append(raw, '\n'), ".md": []byte(r.Table())})
}
