package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"
)

// The stream that meshes carry.
const (
	streamRate      = 40  // frames a second
	streamGroup     = 10  // frames
	streamFrameSize = 500 // bytes
)

// publish publishes a made-up broadcast at a relay until the test ends.
func publish(t *testing.T, r *relay, name string) *process {
	t.Helper()
	return start(t, "publisher", exec.Command(ourProgram(t, "moqmesh"), "publish", r.url("moqt"),
		"--tls-fingerprint", r.fingerprint, "--name", name, "--synthetic",
		"--rate", strconv.Itoa(streamRate), "--group-size", strconv.Itoa(streamGroup),
		"--frame-size", strconv.Itoa(streamFrameSize)))
}

// viewer watches a broadcast and remembers what came when.
type viewer struct {
	process *process
	came    *arrivals
}

// watch watches a broadcast at a relay until the test ends, through every interruption.
func watch(t *testing.T, r *relay, name string) viewer {
	t.Helper()
	came := &arrivals{}
	cmd := exec.Command(ourProgram(t, "moqmesh"), "subscribe", r.url("moqt"),
		"--tls-fingerprint", r.fingerprint, "--name", name, "--json")
	cmd.Stdout = came
	return viewer{process: start(t, "viewer", cmd), came: came}
}

// await waits until n more frames than now have come.
func (v viewer) await(t *testing.T, n int, limit time.Duration) {
	t.Helper()
	before := v.came.count()
	eventually(t, limit, fmt.Sprintf("%d more frames", n), func() error {
		if got := v.came.count() - before; got < n {
			return fmt.Errorf("%d came", got)
		}
		return nil
	})
}

// arrivals takes the lines of moqmesh subscribe --json.
type arrivals struct {
	mu      sync.Mutex
	partial []byte
	frames  []arrival
	broken  error // the first line that is no frame
}

// arrival is one frame.
type arrival struct {
	Group uint64 `json:"group"`
	Frame int    `json:"frame"`
	at    time.Time
}

func (a *arrivals) Write(b []byte) (int, error) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.partial = append(a.partial, b...)
	for {
		line, rest, whole := bytes.Cut(a.partial, []byte("\n"))
		if !whole {
			return len(b), nil
		}
		f := arrival{at: now}
		if err := json.Unmarshal(line, &f); err != nil && a.broken == nil {
			a.broken = fmt.Errorf("line %q: %w", line, err)
		}
		a.frames = append(a.frames, f)
		a.partial = rest
	}
}

func (a *arrivals) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.frames)
}

// silence is the longest time between two frames.
func (a *arrivals) silence() (longest time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := 1; i < len(a.frames); i++ {
		longest = max(longest, a.frames[i].at.Sub(a.frames[i-1].at))
	}
	return longest
}

// flaw says what is wrong with what came: a frame twice or out of its place in the group, a
// group short of frames, a group left out. The newest group may be under way.
func (a *arrivals) flaw() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.broken != nil {
		return a.broken
	}
	if len(a.frames) == 0 {
		return fmt.Errorf("nothing came")
	}
	next := map[uint64]int{} // frames of each group
	first, last := a.frames[0].Group, a.frames[0].Group
	for _, f := range a.frames {
		if f.Frame != next[f.Group] {
			return fmt.Errorf("group %d: frame %d where %d was due", f.Group, f.Frame, next[f.Group])
		}
		next[f.Group]++
		first, last = min(first, f.Group), max(last, f.Group)
	}
	for g := first; g < last; g++ {
		if next[g] != streamGroup {
			return fmt.Errorf("group %d of %d to %d has %d frames, want %d", g, first, last, next[g], streamGroup)
		}
	}
	return nil
}
