package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// install says how to get a program that a cell needs.
var install = map[string]string{
	"moq-relay":         "cargo install moq-relay --version 0.17.10",
	"moq-relay-0.14.12": "cargo install moq-relay --version 0.14.12, renamed",
	"moq":               "cargo install moq-cli --version 0.14.10",
	"moq-bench":         "built from the sources of moq-dev/moq, package moq-bench",
	"ffmpeg":            "apt install ffmpeg",
	"ffprobe":           "apt install ffmpeg",
	"node":              "https://nodejs.org, version 20 or newer",
	"npm":               "https://nodejs.org, version 20 or newer",
	"chromium":          "apt install chromium",
}

// missing ends the test because of something that this machine lacks: a skip on a
// developer's machine, a failure where everything has to be there.
func missing(t *testing.T, what, remedy string) {
	t.Helper()
	if os.Getenv("MOQMESH_STRICT") == "1" {
		t.Fatalf("%s is missing: %s", what, remedy)
	}
	t.Skipf("%s is missing: %s", what, remedy)
}

// peer is the path of another implementation's program, in the folder MOQ_PEERS (itself, or
// its bin) or on the PATH.
func peer(t *testing.T, name string) string {
	t.Helper()
	if dir := os.Getenv("MOQ_PEERS"); dir != "" {
		for _, path := range []string{filepath.Join(dir, name), filepath.Join(dir, "bin", name)} {
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	return tool(t, name)
}

// tool is the path of a program on the PATH.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, name, install[name])
	}
	return path
}

// jsDir is the folder of the JavaScript side, relative to this package.
const jsDir = "js"

// installModules fills js/node_modules once in a run when it is not there.
var installModules = sync.OnceValues(func() ([]byte, error) {
	if _, err := os.Stat(filepath.Join(jsDir, "node_modules", ".package-lock.json")); err == nil {
		return nil, nil
	}
	cmd := exec.Command("npm", "ci", "--no-audit", "--no-fund")
	cmd.Dir = jsDir
	cmd.WaitDelay = time.Second
	return cmd.CombinedOutput()
})

// needModules makes sure that Node and its packages are there.
func needModules(t *testing.T) {
	t.Helper()
	tool(t, "node")
	tool(t, "npm")
	if out, err := installModules(); err != nil {
		missing(t, "node_modules", "npm ci in interop/js: "+err.Error()+"\n"+string(out))
	}
}

// node prepares a command that runs one of our scripts.
func node(t *testing.T, script string, args ...string) *exec.Cmd {
	t.Helper()
	needModules(t)
	cmd := exec.Command("node", append([]string{script}, args...)...)
	cmd.Dir = jsDir
	return cmd
}
