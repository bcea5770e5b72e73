package interop

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// kind is an implementation of the relay: what changes from one to another.
type kind struct {
	// program finds the executable, building it when it is ours.
	program func(*testing.T) string
	// config is the file that starts it.
	config func(relayConfig) string
	// versions are the moq-lite versions it speaks by default; optIn those it speaks when told to.
	versions, optIn []string
}

// relayConfig is what a cell may choose about its relay.
type relayConfig struct {
	versions []string // nothing = the relay's own default
	public   string   // pattern of what anybody may do; nothing = everything
	timeout  string   // of handshake and SETUP; nothing = the default
	drain    string   // how long sessions may stay at shutdown; nothing = the default
	addr     string   // UDP and TCP, chosen by startRelay
}

var kinds = map[string]kind{
	"ours": {
		program:  func(t *testing.T) string { return ourProgram(t, "moqmesh-relay") },
		config:   newerConfig,
		versions: released(1, 6),
		optIn:    []string{"moq-lite-06-wip", "moq-lite-07-wip"},
	},
	"rust": {
		program:  func(t *testing.T) string { return peer(t, "moq-relay") },
		config:   newerConfig,
		versions: released(1, 6),
		optIn:    []string{"moq-lite-07-wip"},
	},
	"rust-0.14.12": {
		program:  func(t *testing.T) string { return peer(t, "moq-relay-0.14.12") },
		config:   olderConfig,
		versions: released(1, 5),
		optIn:    []string{"moq-lite-06-wip"},
	},
}

// released names the moq-lite versions of a range, both ends included.
func released(from, to int) (names []string) {
	for v := from; v <= to; v++ {
		names = append(names, fmt.Sprintf("moq-lite-%02d", v))
	}
	return names
}

// newerConfig is a file in the dialect of moq-relay 0.17.
func newerConfig(c relayConfig) string {
	var b strings.Builder
	if c.drain != "" {
		fmt.Fprintf(&b, "drain_timeout = %q\n", c.drain)
	}
	fmt.Fprintf(&b, "[listen]\nbind = %q\ntls.generate = [\"localhost\"]\n", c.addr)
	if len(c.versions) > 0 {
		fmt.Fprintf(&b, "version = [%s]\n", quoted(c.versions))
	}
	if c.timeout != "" {
		fmt.Fprintf(&b, "timeout = %q\n", c.timeout)
	}
	public := "**"
	if c.public != "" {
		public = c.public
	}
	fmt.Fprintf(&b, "[web.http]\nlisten = %q\n[auth]\npublic = %q\n", c.addr, public)
	return b.String()
}

// olderConfig is a file in the dialect of moq-relay 0.14.
func olderConfig(c relayConfig) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[server]\nbind = %q\ntls.generate = [\"localhost\"]\n", c.addr)
	if len(c.versions) > 0 {
		fmt.Fprintf(&b, "version = [%s]\n", quoted(c.versions))
	}
	fmt.Fprintf(&b, "[web.http]\nlisten = %q\n[auth]\npublic = %q\n", c.addr, strings.TrimSuffix(c.public, "/**"))
	return b.String()
}

func quoted(names []string) string {
	return `"` + strings.Join(names, `", "`) + `"`
}

// relay is a running relay. QUIC and HTTP share one port number, so that an http URL leads
// a browser to both.
type relay struct {
	kind
	addr        string
	fingerprint string // SHA-256 of its certificate, hex
	process     *process
}

// startRelay starts a relay of the kind that the run is about and waits until it serves.
func startRelay(t *testing.T, c relayConfig) *relay {
	t.Helper()
	return startKind(t, chosenKind(t), c)
}

// startKind starts a relay of one kind and waits until it serves.
func startKind(t *testing.T, k kind, c relayConfig) *relay {
	t.Helper()
	c.addr = freeAddr(t)
	file := filepath.Join(t.TempDir(), "relay.toml")
	if err := os.WriteFile(file, []byte(k.config(c)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &relay{kind: k, addr: c.addr}
	r.process = start(t, "relay", exec.Command(k.program(t), file))
	r.awaitReady(t)
	return r
}

func (r *relay) awaitReady(t *testing.T) {
	t.Helper()
	eventually(t, 10*time.Second, "relay ready", func() error {
		select {
		case <-r.process.exited:
			t.Fatalf("relay ended at start: %v", r.process.err)
		default:
		}
		_, err := r.get("/health")
		return err
	})
	hash, err := r.get("/certificate.sha256")
	if err != nil {
		t.Fatal(err)
	}
	r.fingerprint = strings.TrimSpace(hash)
}

// url is the relay's address for a scheme.
func (r *relay) url(scheme string) string { return scheme + "://" + r.addr + "/" }

// get fetches a path over HTTP; any status but 200 is an error.
func (r *relay) get(path string) (string, error) {
	client := http.Client{Timeout: 5 * time.Second}
	resp, err := client.Get("http://" + r.addr + path)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %.200s", path, resp.Status, body)
	}
	return string(body), err
}

// awaitAnnounced waits until exactly this broadcast, or one below it, is announced.
func (r *relay) awaitAnnounced(t *testing.T, name string) {
	t.Helper()
	eventually(t, 10*time.Second, name+" announced", func() error {
		names, err := r.get("/announced")
		if err != nil {
			return err
		}
		for line := range strings.Lines(names) {
			if line = strings.TrimSpace(line); line == name || strings.HasPrefix(line, name+"/") {
				return nil
			}
		}
		return errNotYet
	})
}

// chosenRelay names the relay under test, by MOQMESH_INTEROP_RELAY.
func chosenRelay() string { return cmp.Or(os.Getenv("MOQMESH_INTEROP_RELAY"), "ours") }

func chosenKind(t *testing.T) kind {
	t.Helper()
	k, ok := kinds[chosenRelay()]
	if !ok {
		t.Fatalf("MOQMESH_INTEROP_RELAY=%q: want ours, rust or rust-0.14.12", chosenRelay())
	}
	return k
}

// freeAddr finds a loopback port that is free for both UDP and TCP.
func freeAddr(t *testing.T) string {
	t.Helper()
	for range 50 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := l.Addr().String()
		u, err := net.ListenPacket("udp", addr)
		l.Close()
		if err == nil {
			u.Close()
			return addr
		}
	}
	t.Fatal("no port is free for both UDP and TCP")
	return ""
}

// buildAll builds our own programs into one folder, once in a run.
var buildAll = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "moqmesh-interop-")
	if err != nil {
		return "", err
	}
	cleanups = append(cleanups, func() { os.RemoveAll(dir) })
	out, err := exec.Command("go", "build", "-o", dir+"/", "../cmd/...").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build our programs: %w\n%s", err, out)
	}
	return dir, nil
})

// ourProgram is the path of one of our programs, freshly built.
func ourProgram(t *testing.T, name string) string {
	t.Helper()
	dir, err := buildAll()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// offering returns a relay that offers the version: this one when it does so by default, a
// second one limited to it when it does so only on request. A version that the relay lacks
// skips the cell.
func (r *relay) offering(t *testing.T, version string) *relay {
	t.Helper()
	switch {
	case slices.Contains(r.versions, version):
		return r
	case slices.Contains(r.optIn, version):
		return startRelay(t, relayConfig{versions: []string{version}})
	}
	t.Skipf("the relay does not speak %s", version)
	return nil
}
