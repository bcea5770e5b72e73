package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Report is everything that a comparison found.
type Report struct {
	Date    time.Time    `json:"date"`
	Machine Machine      `json:"machine"`
	Command []string     `json:"command"`
	Relays  []RelayAbout `json:"relays"` // the first is compared with the others
	Version string       `json:"version"`
	Schemes []string     `json:"schemes"`
	Loads   []Load       `json:"loads"`
	Pinning string       `json:"pinning"`

	Measurements []Measurement `json:"measurements"`
	Saturation   []Saturation  `json:"saturation,omitempty"`
	Agreement    []Agreement   `json:"agreement,omitempty"`
}

// RelayAbout names a relay of a report.
type RelayAbout struct {
	Name    string `json:"name"`
	Version string `json:"version"` // as its --version says
	// Commit is what a Go program was built from, with "-dirty" behind it if files
	// had changed since; empty = unknown.
	Commit string `json:"commit,omitempty"`
}

// String is a line of a table's head.
func (a RelayAbout) String() string {
	if a.Commit == "" {
		return a.Name + ": " + a.Version
	}
	return a.Name + ": " + a.Version + ", commit " + a.Commit
}

// Measurement is one result in its place in a comparison.
type Measurement struct {
	Round  int    `json:"round"` // from 1; 0 = of a saturation ramp
	Relay  string `json:"relay"`
	Scheme string `json:"scheme"`
	FanoutResult
}

// String is a line of progress.
func (m Measurement) String() string {
	return fmt.Sprintf("%d %-5s %-5s %4d viewers  %-18s %6.1f µs a frame, %7.3f %% delivered, p99 %v, load %.0f %% of its core, others %.2f cores",
		m.Round, m.Load.Name, m.Scheme, m.Load.Viewers, m.Relay, m.FrameCPU, 100*m.Share,
		time.Duration(m.Latency.P99)*time.Microsecond, 100*m.Self.Share(), m.Others)
}

func newReport(ctx context.Context, cfg CompareConfig) *Report {
	r := &Report{
		Date: time.Now().UTC().Truncate(time.Second), Machine: thisMachine(), Command: os.Args, Version: cfg.Version.String(),
		Schemes: cfg.Schemes, Loads: cfg.Loads,
		Pinning: fmt.Sprintf("relays on processor %q, load on %q", cfg.RelayCPUs, cfg.LoadCPUs),
	}
	for _, relay := range cfg.Relays {
		r.Relays = append(r.Relays, relay.about(ctx))
	}
	return r
}

// values are one figure of a relay under a load, by round.
func (r *Report) values(relay, load, scheme string, figure func(Measurement) float64) map[int]float64 {
	out := make(map[int]float64)
	for _, m := range r.Measurements {
		if m.Relay == relay && m.Load.Name == load && m.Scheme == scheme {
			out[m.Round] = figure(m)
		}
	}
	return out
}

// spread is that figure over all rounds.
func (r *Report) spread(relay, load, scheme string, figure func(Measurement) float64) Spread {
	var all []float64
	for _, v := range r.values(relay, load, scheme, figure) {
		all = append(all, v)
	}
	return spreadOf(all)
}

// ratio is the first relay's figure over another's, round by round.
func (r *Report) ratio(other, load, scheme string, figure func(Measurement) float64) Spread {
	mine, theirs := r.values(r.Relays[0].Name, load, scheme, figure), r.values(other, load, scheme, figure)
	var all []float64
	for round, v := range theirs {
		if own, ok := mine[round]; ok && v > 0 {
			all = append(all, own/v)
		}
	}
	return spreadOf(all)
}

func frameCPU(m Measurement) float64  { return m.FrameCPU }
func p99(m Measurement) float64       { return float64(m.Latency.P99) }
func delivered(m Measurement) float64 { return m.Share }
func others(m Measurement) float64    { return m.Others }

// Write stores the report as DATE-HOST.json, .md and .svg in a folder and
// returns the path of the first.
func (r *Report) Write(dir string) (string, error) {
	raw, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return "", err
	}
	base := resultName(r.Date, r.Machine.Host)
	return writeResult(dir, base, map[string][]byte{".json": append(raw, '\n'), ".md": []byte(r.Table()), ".svg": r.SVG()})
}

// resultName is how the files of a result begin.
func resultName(date time.Time, host string) string {
	return date.Format("2006-01-02T1504") + "-" + strings.ReplaceAll(host, string(filepath.Separator), "_")
}

// writeResult stores the files of a result, named by what follows base, and
// returns the path of the one in JSON.
func writeResult(dir, base string, files map[string][]byte) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	base = filepath.Join(dir, base)
	for ext, content := range files {
		if err := os.WriteFile(base+ext, content, 0o644); err != nil {
			return "", err
		}
	}
	return base + ".json", nil
}
