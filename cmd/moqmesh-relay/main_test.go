package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
)

// asRelay makes the test binary be the relay.
const asRelay = "MOQMESH_TEST_AS_RELAY"

func TestMain(m *testing.M) {
	if os.Getenv(asRelay) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// child is a relay in a process of its own.
type child struct {
	cmd  *exec.Cmd
	over chan struct{} // closed when it has ended

	mu    sync.Mutex
	lines []string // of its log
	more  chan struct{}
}

// spawn starts a relay in dir.
func spawn(t *testing.T, dir string, args ...string) *child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: exec.Command(exe, args...), over: make(chan struct{}), more: make(chan struct{})}
	c.cmd.Dir = dir
	c.cmd.Env = append(os.Environ(), asRelay+"=1")
	stderr, err := c.cmd.StderrPipe()
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.over)
		c.read(stderr)
		c.cmd.Wait()
	}()
	t.Cleanup(func() {
		c.cmd.Process.Kill()
		<-c.over
		if t.Failed() {
			t.Logf("relay said:\n%s", c.log())
		}
	})
	return c
}

func (c *child) read(r io.Reader) {
	for s := bufio.NewScanner(r); s.Scan(); {
		c.mu.Lock()
		c.lines = append(c.lines, s.Text())
		close(c.more)
		c.more = make(chan struct{})
		c.mu.Unlock()
	}
}

func (c *child) log() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.lines, "\n")
}

// says waits for a line with all of words, after the first skip lines, and
// returns it with the number of lines up to it.
func (c *child) says(t *testing.T, skip int, words ...string) (line string, at int) {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for i := skip; ; i++ {
		c.mu.Lock()
		for i >= len(c.lines) {
			more := c.more
			c.mu.Unlock()
			select {
			case <-more:
			case <-c.over:
				t.Fatalf("the relay ended without a line with %q", words)
			case <-timer.C:
				t.Fatalf("no line with %q", words)
			}
			c.mu.Lock()
		}
		line := c.lines[i]
		c.mu.Unlock()
		if containsAll(line, words) {
			return line, i + 1
		}
	}
}

func containsAll(s string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}

var listening = regexp.MustCompile(`addr=(\S+)`)

// addr is where the relay listens, by kind: quic, http, https or internal.
func (c *child) addr(t *testing.T, kind string) string {
	t.Helper()
	line, _ := c.says(t, 0, "msg=listening ", "kind="+kind)
	return listening.FindStringSubmatch(line)[1]
}

func (c *child) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// exit waits for the end and returns its status.
func (c *child) exit(t *testing.T) int {
	t.Helper()
	select {
	case <-c.over:
	case <-time.After(patience):
		t.Fatal("the relay does not end")
	}
	return c.cmd.ProcessState.ExitCode()
}

// open are flags for a relay that serves everybody on free loopback ports.
var open = []string{
	"--listen=127.0.0.1:0", "--listen-tls-generate=localhost", "--web-http-listen=127.0.0.1:0",
	"--internal-listen=127.0.0.1:0", "--auth-public=**",
}

// caller is a session with a relay, running.
type caller struct {
	*client.Client
	origin *moq.Origin
	goaway chan string
	leave  context.CancelFunc
	gone   chan struct{}
}

func call(t *testing.T, url string) *caller {
	t.Helper()
	p := &caller{origin: moq.NewOrigin(session.RandomID(), moq.NewCache(0)), goaway: make(chan string, 1), gone: make(chan struct{})}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var err error
	p.Client, err = client.Dial(ctx, url, client.Config{
		Dial:     transport.DialConfig{TLS: &tls.Config{InsecureSkipVerify: true}, WebSocketDelay: -1},
		Origin:   p.origin,
		OnGoaway: func(uri string) { p.goaway <- uri },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, p.leave = context.WithCancel(context.Background())
	go func() {
		defer close(p.gone)
		p.Run(ctx)
	}()
	t.Cleanup(func() { p.leave(); <-p.gone })
	return p
}

func within[T any](t *testing.T, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatalf("in vain: %s", what)
	}
	return v
}

// alive fails where the session has ended.
func (p *caller) alive(t *testing.T) {
	t.Helper()
	if err := context.Cause(p.Conn().Context()); err != nil {
		t.Errorf("the session ended with %v", err)
	}
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	web := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	res, err := web.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestExitStatus(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "bad.toml"), "[listen]\nbnd = \":443\"\n")
	for _, tt := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"--no-such-flag"}, 2, "no-such-flag"},
		{[]string{"bad.toml"}, 1, "bad.toml:2:1: listen.bnd: unknown key; did you mean listen.bind?"},
		{[]string{"missing.toml"}, 1, "missing.toml"},
		{[]string{"--listen=127.0.0.1:0", "--listen-tls-generate=localhost"}, 1, "auth"}, // D9
		{append(open[1:], "--listen=nowhere.invalid:1"), 1, "listen.bind"},
		{[]string{"--version"}, 0, ""},
		{[]string{"--help"}, 0, ""},
	} {
		c := spawn(t, dir, tt.args...)
		if status := c.exit(t); status != tt.status || !strings.Contains(c.log(), tt.says) {
			t.Errorf("%q: status %d, said %q; want %d and %q", tt.args, status, c.log(), tt.status, tt.says)
		}
	}
}

// C4: a busy port stops the start, and says which.
func TestC4BusyPort(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	c := spawn(t, t.TempDir(), "--listen=127.0.0.1:0", "--listen-tls-generate=localhost", "--auth-public=**",
		"--web-http-listen="+ln.Addr().String())
	if status := c.exit(t); status != 1 || !strings.Contains(c.log(), ln.Addr().String()) || strings.Contains(c.log(), "goroutine") {
		t.Errorf("status %d, said %q; want 1 and the address", status, c.log())
	}
}

// I10: the first signal drains, and the relay ends when all have left.
func TestI10SignalDrains(t *testing.T) {
	for _, s := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		c := spawn(t, t.TempDir(), append(open, "--drain-timeout=1m")...)
		p := call(t, "moqt://"+c.addr(t, "quic")+"/")
		c.says(t, 0, "session accepted")
		c.signal(t, s)
		within(t, "GOAWAY", p.goaway)
		if status, body := get(t, "http://"+c.addr(t, "internal")+"/ready"); status != 503 || body != "draining\n" {
			t.Errorf("/ready = %d %q", status, body)
		}
		p.alive(t)
		p.leave()
		if status := c.exit(t); status != 0 {
			t.Errorf("%v: status %d, want 0", s, status)
		}
		c.says(t, 0, "drain complete: every session left; exiting")
	}
}

func TestI10SecondSignalEndsAtOnce(t *testing.T) {
	c := spawn(t, t.TempDir(), append(open, "--drain-timeout=1m")...)
	p := call(t, "https://"+c.addr(t, "quic")+"/")
	c.says(t, 0, "session accepted")
	c.signal(t, syscall.SIGTERM)
	within(t, "GOAWAY", p.goaway)
	c.signal(t, syscall.SIGTERM)
	if status := c.exit(t); status != 0 {
		t.Errorf("status %d, want 0", status)
	}
	c.says(t, 0, "second shutdown signal; exiting immediately")
	within(t, "the session's end", p.gone)
}

// A service manager hears when all sockets are open, and when the end begins.
func TestNotify(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	manager.SetReadDeadline(time.Now().Add(patience))
	hears := func(want string) {
		t.Helper()
		b := make([]byte, 64)
		n, err := manager.Read(b)
		if err != nil || string(b[:n]) != want {
			t.Fatalf("heard %q, %v, want %q", b[:n], err, want)
		}
	}
	t.Setenv("NOTIFY_SOCKET", name)
	c := spawn(t, t.TempDir(), open...)
	hears("READY=1")
	if status, _ := get(t, "http://"+c.addr(t, "http")+"/health"); status != 200 {
		t.Errorf("ready, and /health says %d", status)
	}
	c.signal(t, syscall.SIGTERM)
	hears("STOPPING=1")
	c.exit(t)
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
