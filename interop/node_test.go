package interop

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
)

// nodeCells runs the exchange of js/transfer.mjs in Node over WebSocket, once for each way
// in which @moq/net agrees on a version.
func nodeCells(t *testing.T, r *relay) {
	for _, c := range []struct {
		protocol string // the sub-protocol pinned; bare = none
		version  string // what it leads to
		steps    string
	}{
		// Before lite-05 the library does not notice the end of a track over qmux.
		{protocol: "bare", version: "moq-lite-02"},
		{protocol: "moql", version: "moq-lite-02"},
		{protocol: "moq-lite-03", version: "moq-lite-03"},
		{protocol: "moq-lite-04", version: "moq-lite-04"},
		{protocol: "moq-lite-05", version: "moq-lite-05", steps: "datagrams,end"},
		{protocol: "moq-lite-06-wip", version: "moq-lite-06-wip", steps: "datagrams,end"},
	} {
		t.Run(c.protocol, func(t *testing.T) {
			nodeCell(t, r.offering(t, c.version), c.protocol, c.version, c.steps)
		})
	}
	t.Run("moql-01", func(t *testing.T) {
		old := startRelay(t, relayConfig{versions: []string{"moq-lite-01"}})
		nodeCell(t, old, "moql", "moq-lite-01", "")
	})
}

func nodeCell(t *testing.T, r *relay, protocol, version, steps string) {
	out := run(t, "node", 60*time.Second, node(t, "node.mjs", r.url("ws"), protocol, unique("node"), steps))
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	var got transferResult
	if err := json.Unmarshal(lines[len(lines)-1], &got); err != nil {
		t.Fatalf("result %q: %v", lines[len(lines)-1], err)
	}
	if want := (transferResult{Version: version, Transport: "websocket"}); got != want {
		t.Errorf("agreed on %+v, want %+v", got, want)
	}
}

// transferResult is what js/transfer.mjs returns.
type transferResult struct {
	Version   string `json:"version"`
	Transport string `json:"transport"` // webtransport or websocket
}
