package interop

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// benchVersions are the moq-lite versions that moq-bench can be pinned to. On moq-transport its
// viewers lose their subscription even through moq-relay 0.17.10, so those versions are not here.
var benchVersions = append(released(1, 5), "moq-lite-06-wip")

// benchCells sends a stream through the relay with moq-bench: each version over raw QUIC,
// and the newest one over WebTransport and WebSocket.
func benchCells(t *testing.T, r *relay) {
	for _, v := range benchVersions {
		t.Run("quic/"+v, func(t *testing.T) { benchCell(t, r.offering(t, v), "moqt", v) })
	}
	for _, v := range []string{"moq-lite-05", "moq-lite-03"} {
		t.Run("webtransport/"+v, func(t *testing.T) { benchCell(t, r, "https", v) })
	}
	t.Run("websocket/moq-lite-05", func(t *testing.T) { benchCell(t, r, "ws", "moq-lite-05") })
}

// benchLine is a report of moq-bench: totals since its start.
type benchLine struct {
	Subscriptions  int `json:"subscriptions"`
	FramesReceived int `json:"frames_recv"`
	BytesReceived  int `json:"bytes_recv"`
	GroupsExpected int `json:"groups_expected"`
	GroupsPresent  int `json:"groups_present"`
}

const (
	benchViewers   = 3
	benchRate      = 100  // frames a second
	benchFrameSize = 1000 // bytes
	benchGroup     = 20   // frames
	benchDuration  = 2500 * time.Millisecond
)

// benchCell runs one publisher and a few viewers and demands that nothing was lost.
func benchCell(t *testing.T, r *relay, scheme, version string) {
	name := unique("bench")
	common := []string{
		"--client-connect", r.url(scheme), "--client-version", version, "--client-tls-disable-verify",
		"--name", name, "--startup", "50ms", "--report", "500ms",
	}
	bench := peer(t, "moq-bench")
	start(t, "publisher", exec.Command(bench, append(common,
		"--connections", "1", "--broadcasts", "1", "--subscribe", "0",
		"--fps", strconv.Itoa(benchRate), "--frame-size", strconv.Itoa(benchFrameSize),
		"--group-size", strconv.Itoa(benchGroup))...))
	r.awaitAnnounced(t, name)

	output := filepath.Join(t.TempDir(), "viewers.jsonl")
	viewers := start(t, "viewers", exec.Command(bench, append(common,
		"--connections", strconv.Itoa(benchViewers), "--broadcasts", "0", "--subscribe", "1",
		"--duration", benchDuration.String(), "--output", output)...))
	viewers.succeed(t, 20*time.Second)
	checkBench(t, lastBenchLine(t, output))
}

func checkBench(t *testing.T, got benchLine) {
	t.Helper()
	if got.Subscriptions != benchViewers {
		t.Errorf("%d subscriptions, want %d", got.Subscriptions, benchViewers)
	}
	const wanted = benchViewers * benchRate * int(benchDuration/time.Millisecond) / 1000
	if least := wanted * 2 / 3; got.FramesReceived < least { // connecting takes its share
		t.Errorf("%d frames delivered in %v, want at least %d", got.FramesReceived, benchDuration, least)
	}
	if want := got.FramesReceived * benchFrameSize; got.BytesReceived != want {
		t.Errorf("%d bytes in %d frames, want %d", got.BytesReceived, got.FramesReceived, want)
	}
	if got.GroupsExpected == 0 || got.GroupsPresent != got.GroupsExpected {
		t.Errorf("%d of %d groups arrived, want all", got.GroupsPresent, got.GroupsExpected)
	}
}

func lastBenchLine(t *testing.T, path string) (line benchLine) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], &line); err != nil {
		t.Fatalf("last line of moq-bench %q: %v", lines[len(lines)-1], err)
	}
	return line
}
