package bench

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// holdWord as the first argument makes the test program one that holds sessions.
const holdWord = "hold-sessions"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == holdWord {
		os.Exit(holdSessions(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// holdSessions is what "moqmesh bench hold" does.
func holdSessions(url string, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	cfg := holding("", 0)
	cfg.URL = url
	f := flag.NewFlagSet(holdWord, flag.ExitOnError)
	f.IntVar(&cfg.Sessions, "sessions", 0, "")
	f.DurationVar(&cfg.Ramp, "ramp", 0, "")
	f.StringVar(&cfg.Watch, "watch", "", "")
	f.String("protocol", "", "the one of holding")
	f.Bool("tls-insecure", false, "as holding does")
	f.Parse(args)
	lines := json.NewEncoder(os.Stdout)
	held, err := Hold(ctx, cfg, func(h Held) { lines.Encode(h) })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	lines.Encode(held)
	return 0
}

// TestSoak is a small one: idle sessions, viewers, and some of them stopped. All
// frames reach the others, no idle session ends, and each costs little.
func TestSoak(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var progress strings.Builder
	r, err := Soak(t.Context(), SoakConfig{
		URL: "moqt://" + serve(t) + "/", PID: os.Getpid(), Version: lite.V05,
		Load: Load{Rate: 20, FrameBytes: 300, GroupFrames: 1, Viewers: 9}, Idle: 50, Stopped: 3,
		Stops: 1, Phase: 500 * time.Millisecond, Pace: 200, Hold: []string{self, holdWord}, Progress: &progress,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	if f := r.Fanout; f.Expected != 4*10*9 || f.Groups.Whole != f.Expected || len(f.Phases) != 4 {
		t.Errorf("%d frames expected, groups %+v, %d phases; want 360, all whole, in 4", f.Expected, f.Groups, len(f.Phases))
	}
	if h := r.StoppedHeld; h.Open != 3 || h.Frames == 0 {
		t.Errorf("those that were stopped: %+v, want 3 sessions that go on reading", h)
	}
	if each := r.IdleBytes(); each > 1<<20 {
		t.Errorf("%d bytes for each idle session, want at most 1 MiB", each)
	}
	if r.Memory.Empty == 0 || r.ViewerBytes() > 4<<20 {
		t.Errorf("memory %+v and %d bytes for each viewer, want it known and bounded", r.Memory, r.ViewerBytes())
	}
	if !strings.Contains(progress.String(), "phase 2 of 4: stopped\n") {
		t.Errorf("progress: %s", progress.String())
	}
}

// soaked is a good result: 1,000 idle sessions of 100 kB, 80 viewers and 20
// stopped ones of 50 kB.
func soaked() *SoakResult {
	relay := &Usage{Span: time.Second, CPU: 300 * time.Millisecond, RSS: 115e6}
	r := &SoakResult{
		Date: time.Date(2026, 11, 30, 12, 30, 0, 0, time.UTC), Machine: Machine{Host: "bench1"},
		Relay: RelayAbout{Name: "ours", Version: "v1", Commit: "abc"}, Idle: 1000, Stopped: 20,
		Memory: Memory{Empty: 10e6, Idle: 110e6}, IdleHeld: Held{Open: 1000}, StoppedHeld: Held{Open: 19, Ended: 1, Frames: 7},
		Fanout: FanoutResult{Load: Load{Viewers: 80}, Expected: 300, Delivered: 300, Relay: relay},
	}
	for _, p99 := range []int64{4000, 9000, 20000, 6000} {
		r.Fanout.Phases = append(r.Fanout.Phases, Phase{Expected: 100, Delivered: 100, Relay: relay, Latency: Quantiles{P99: p99}})
	}
	return r
}

func TestSoakTable(t *testing.T) {
	table := soaked().Table()
	for _, want := range []string{
		"ours: v1, commit abc",
		"| 2 | stopped | 100 of 100 | 0s | 9ms | 0s | 30 % | 0 % | 115 MB |\n",
		"5.0 (4.0–6.0) ms while the others ran, 9.0 ms while they were stopped, 20.0 ms while they caught up",
		"100 kB for each idle session, 50 kB for each viewer",
		"open at the end: 1000 of 1000. Of the 20 that were stopped, 19 were, and had read 7 frames.\n",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if strings.Contains(table, "Failed") {
		t.Errorf("a good result says that it failed:\n%s", table)
	}
	unknown := soaked()
	for i := range unknown.Fanout.Phases {
		unknown.Fanout.Phases[i].Relay = nil
	}
	unknown.Idle = 0
	if table := unknown.Table(); !strings.Contains(table, "| ? | 0 % | ? |") || !strings.Contains(table, "0 kB for each idle session, 0 kB") {
		t.Errorf("unknown figures are not told as such:\n%s", table)
	}
}

// TestSoakErr: what others lose is an error, what stopped viewers lose is not.
func TestSoakErr(t *testing.T) {
	if err := soaked().Err(); err != nil {
		t.Errorf("Err = %v for a good result", err)
	}
	r := soaked()
	r.Fanout.Delivered--
	r.IdleHeld.Open -= 2
	err := r.Err()
	if err == nil || !strings.Contains(err.Error(), "299 of 300 frames") || !strings.Contains(err.Error(), "2 idle sessions ended") {
		t.Errorf("Err = %v, want both losses", err)
	}
	if !strings.Contains(r.Table(), "Failed: ") {
		t.Error("the table does not tell")
	}
}

func TestSoakWrite(t *testing.T) {
	file, err := soaked().Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got := filepath.Base(file); got != "2026-11-30T1230-bench1-soak.json" {
		t.Errorf("wrote %s", got)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var back SoakResult
	if err := json.Unmarshal(raw, &back); err != nil || back.ViewerBytes() != 50_000 || len(back.Fanout.Phases) != 4 {
		t.Errorf("read back %+v, %v", back, err)
	}
}

func TestSoakConfig(t *testing.T) {
	good := SoakConfig{URL: "moqt://h/", Version: lite.V05, Load: Shapes[0], Phase: time.Second, Pace: 1}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*SoakConfig){
		"no relay":       func(c *SoakConfig) { c.URL = "" },
		"negative":       func(c *SoakConfig) { c.Idle = -1 },
		"too many stops": func(c *SoakConfig) { c.Stops = maxPhases },
		"no phase":       func(c *SoakConfig) { c.Phase = 0 },
		"no pace":        func(c *SoakConfig) { c.Pace = 0 },
		"no viewers":     func(c *SoakConfig) { c.Load.Viewers = 0 },
	} {
		cfg := good
		change(&cfg)
		if cfg.Check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestCrowdErrors: a command that cannot hold sessions is told with what it said.
func TestCrowdErrors(t *testing.T) {
	if _, err := startCrowd(t.Context(), []string{"/nonexistent"}, HoldConfig{}); err == nil {
		t.Error("no error for a program that is not there")
	}
	_, err := startCrowd(t.Context(), []string{"sh", "-c", "echo no room >&2"}, HoldConfig{})
	if err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("startCrowd = %v, want what it said", err)
	}
}

func TestCommit(t *testing.T) {
	settings := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "false"}}
	if got := commit(settings); got != "abc" {
		t.Errorf("commit = %q", got)
	}
	settings[1].Value = "true"
	if got := commit(settings); got != "abc-dirty" {
		t.Errorf("commit = %q, want it marked", got)
	}
}
