package interop

import (
	"syscall"
	"testing"
	"time"
)

// closeCells lets a page run into each close that a relay can give it, and reads the code as
// a page does. A code that Chromium cannot read looks to a player like a lost network.
func closeCells(t *testing.T, b *browser) {
	if chosenRelay() != "ours" {
		t.Skip("the Rust relay ends the connection right behind the code, and Chromium often misses it")
	}
	for _, c := range []struct {
		name     string
		relay    relayConfig
		path     string
		protocol string
		uni      string // bytes of a stream that the page opens, hex
		bidi     string
		want     int
	}{
		{
			name: "path outside the public rules", want: 0x2, path: "other",
			relay: relayConfig{public: "open/**"}, protocol: "moq-lite-05", uni: emptySetup,
		},
		{
			name: "bad token", want: 0x2, path: "other?jwt=e30.e30.e30",
			relay: relayConfig{public: "open/**"}, protocol: "moq-lite-05", uni: emptySetup,
		},
		{
			name: "SETUP that is cut off", want: 0x3, protocol: "moq-lite-05", uni: "01020105",
		},
		{
			name: "no SETUP in time", want: 0x11,
			relay: relayConfig{timeout: "1s"}, protocol: "moq-lite-05",
		},
		{
			name: "no common version", want: 0x15, protocol: "moql", bidi: unknownVersionSetup,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := startRelay(t, c.relay)
			p := b.open(t, "close", map[string]string{
				"url": r.url("https") + c.path, "hash": r.fingerprint,
				"protocol": c.protocol, "uni": c.uni, "bidi": c.bidi,
			})
			expectClose(t, p, c.want)
		})
	}
	t.Run("drain overstayed", func(t *testing.T) { drainCell(t, b) })
}

const (
	// emptySetup is a lite SETUP stream: its type, a body of one byte, no parameters.
	emptySetup = "010100"
	// unknownVersionSetup is a CLIENT_SETUP that offers only version 0xff000099.
	unknownVersionSetup = "20000a" + "01" + "c0000000ff000099" + "00"
)

// drainCell stays on a relay that is shutting down.
func drainCell(t *testing.T, b *browser) {
	r := startRelay(t, relayConfig{drain: "1s"})
	p := b.open(t, "close", map[string]string{
		"url": r.url("https"), "hash": r.fingerprint, "protocol": "moq-lite-05", "uni": emptySetup,
	})
	p.wait(t, "window.met", 10*time.Second, nil)
	r.process.signal(syscall.SIGTERM)
	expectClose(t, p, 0x10)
}

func expectClose(t *testing.T, p page, want int) {
	t.Helper()
	var got struct {
		CloseCode int    `json:"closeCode"`
		Reason    string `json:"reason"`
		Error     string `json:"error"`
	}
	p.wait(t, "window.result", 15*time.Second, &got)
	if got.Error != "" {
		t.Fatalf("the page sees %q, want close code %#x", got.Error, want)
	}
	if got.CloseCode != want {
		t.Errorf("close code %#x, reason %q, want %#x", got.CloseCode, got.Reason, want)
	}
}
