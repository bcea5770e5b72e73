// Package interop proves the relay against other people's programs: the Rust client and load
// generator, the browser library in Node and in Chromium, and real media files. README.md
// says how to run it and what each cell of the matrix shows.
package interop

import (
	"crypto/rand"
	"os"
	"strings"
	"testing"
)

// cleanups run once when the whole run is over.
var cleanups []func()

func TestMain(m *testing.M) {
	code := m.Run()
	for _, f := range cleanups {
		f()
	}
	os.Exit(code)
}

// unique makes a broadcast name that no other cell and no earlier run has used.
func unique(name string) string {
	return name + "-" + strings.ToLower(rand.Text()[:10])
}

// TestMatrix runs every cell against one relay, one after the other: the machine is shared
// by a relay, its clients and a browser, and a cell that starves proves nothing.
func TestMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("interop takes minutes")
	}
	r := startRelay(t, relayConfig{})
	cells := []struct {
		name string
		run  func(*testing.T, *relay)
	}{
		{"moq-bench", benchCells},
		{"node", nodeCells},
		{"moq", mediaCells},
		{"chromium", chromiumCells},
	}
	for _, c := range cells {
		t.Run(c.name, func(t *testing.T) { c.run(t, r) })
	}
}
