package interop

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"
)

// process is a child program that never outlives the test that started it. What it writes
// to stderr goes to a file of the test's, which is shown when the test fails.
type process struct {
	name    string
	cmd     *exec.Cmd
	logPath string
	exited  chan struct{} // closed once the program is gone
	err     error         // how it ended; valid after exited
}

// start runs cmd in a process group of its own and ends the group with the test.
func start(t *testing.T, name string, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{name: name, cmd: cmd, exited: make(chan struct{})}
	p.logPath = filepath.Join(t.TempDir(), name+".log")
	log, err := os.Create(p.logPath)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = log
	if cmd.Stdout == nil {
		cmd.Stdout = log
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		log.Close()
		t.Fatalf("start %s: %v", name, err)
	}
	go func() {
		p.err = cmd.Wait()
		log.Close()
		close(p.exited)
	}()
	t.Cleanup(func() {
		p.stop()
		if log := p.tail(); t.Failed() && len(log) > 0 {
			t.Logf("%s: %v; end of its log:\n%s", name, p.err, log)
		}
	})
	return p
}

// stop asks the program to end, and ends its whole group if it has not done so in time.
func (p *process) stop() {
	p.signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(2 * time.Second):
	}
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // also what it left behind
	<-p.exited
}

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

func (p *process) signal(s syscall.Signal) {
	if p.running() {
		syscall.Kill(p.cmd.Process.Pid, s)
	}
}

// wait returns how the program ended, or an error when it has not ended within limit.
func (p *process) wait(limit time.Duration) error {
	select {
	case <-p.exited:
		if p.err != nil {
			return fmt.Errorf("%s: %w", p.name, p.err)
		}
		return nil
	case <-time.After(limit):
		return fmt.Errorf("%s: still running after %v", p.name, limit)
	}
}

// succeed fails the test unless the program ends by itself, with success, within limit.
func (p *process) succeed(t *testing.T, limit time.Duration) {
	t.Helper()
	if err := p.wait(limit); err != nil {
		t.Fatal(err)
	}
}

// tail is the last part of the program's log.
func (p *process) tail() []byte {
	const most = 6 << 10
	f, err := os.Open(p.logPath)
	if err != nil {
		return nil // the test's folder is already gone
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err == nil {
		f.Seek(max(0, size-most), io.SeekStart)
	}
	b, _ := io.ReadAll(f)
	return bytes.TrimSpace(colour.ReplaceAll(b, nil))
}

var colour = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// run runs a program to its end and returns what it wrote to stdout.
func run(t *testing.T, name string, limit time.Duration, cmd *exec.Cmd) []byte {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout = &out
	start(t, name, cmd).succeed(t, limit)
	return out.Bytes()
}

var errNotYet = errors.New("not yet")

// eventually asks probe until it succeeds, and fails the test with its last error when
// that takes longer than limit. It is for the state of other programs, which cannot call us.
func eventually(t *testing.T, limit time.Duration, what string, probe func() error) {
	t.Helper()
	deadline := time.After(limit)
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		err := probe()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%s: not within %v: %v", what, limit, err)
		case <-tick.C:
		}
	}
}
