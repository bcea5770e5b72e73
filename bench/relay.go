package bench

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

// Relay is a program to compare.
type Relay struct {
	Name    string
	Program string                   // path of the executable
	Config  func(addr string) string // text of the file that makes it serve everybody on addr, UDP and TCP
}

// NewerConfig is a configuration in the dialect of our relay and moq-relay 0.17.
func NewerConfig(addr string) string {
	return fmt.Sprintf("[listen]\nbind = %[1]q\ntls.generate = [\"localhost\"]\n"+
		"[web.http]\nlisten = %[1]q\n[auth]\npublic = \"**\"\n[log]\nlevel = \"error\"\n", addr)
}

// OlderConfig is the same in the dialect of moq-relay 0.14.
func OlderConfig(addr string) string {
	return fmt.Sprintf("[server]\nbind = %[1]q\ntls.generate = [\"localhost\"]\n"+
		"[web.http]\nlisten = %[1]q\n[auth]\npublic = \"\"\n[log]\nlevel = \"error\"\n", addr)
}

// about names the program.
func (r Relay) about(ctx context.Context) RelayAbout {
	a := RelayAbout{Name: r.Name, Version: r.version(ctx)}
	if info, err := buildinfo.ReadFile(r.Program); err == nil {
		a.Commit = commit(info.Settings)
	}
	return a
}

// commit is what the Go tool noted of the sources when it built a program.
func commit(settings []debug.BuildSetting) (revision string) {
	modified := ""
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "-dirty"
		}
	}
	return revision + modified
}

// version is what the program says of itself, or why it does not.
func (r Relay) version(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, r.Program, "--version").Output()
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(out))
}

// running is a relay that was started.
type running struct {
	Relay
	cmd  *exec.Cmd
	addr string
	log  *tail
}

// start runs the relay on the given processors and waits until it serves. Its
// files lie in dir.
func (r Relay) start(ctx context.Context, dir, cpus string) (*running, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, r.Name+".toml")
	if err := os.WriteFile(file, []byte(r.Config(addr)), 0o600); err != nil {
		return nil, err
	}
	run := &running{Relay: r, addr: addr, log: &tail{}}
	run.cmd = pinned(ctx, cpus, r.Program, file)
	run.cmd.Stdout, run.cmd.Stderr = run.log, run.log
	if err := run.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", r.Name, err)
	}
	if err := run.await(ctx); err != nil {
		run.stop()
		return nil, fmt.Errorf("start %s: %w; it said: %s", r.Name, err, run.log)
	}
	return run, nil
}

// await polls the relay's health until it answers.
func (r *running) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 10*time.Second, errors.New("no answer on /health in 10 s"))
	defer cancel()
	pause := time.NewTicker(50 * time.Millisecond)
	defer pause.Stop()
	for {
		if r.healthy(ctx) {
			return nil
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (r *running) healthy(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.addr+"/health", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

func (r *running) pid() int                 { return r.cmd.Process.Pid }
func (r *running) url(scheme string) string { return scheme + "://" + r.addr + "/" }

// stop ends the relay and waits for it.
func (r *running) stop() {
	r.cmd.Process.Signal(syscall.SIGTERM)
	late := time.AfterFunc(3*time.Second, func() { r.cmd.Process.Kill() })
	defer late.Stop()
	r.cmd.Wait()
}

// pinned is a command that stays on some processors, listed as taskset takes
// them; empty = all.
func pinned(ctx context.Context, cpus, program string, args ...string) *exec.Cmd {
	if cpus != "" {
		program, args = "taskset", append([]string{"-c", cpus, program}, args...)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = 3 * time.Second
	return cmd
}

// freeAddr finds a loopback port that is free for both UDP and TCP.
func freeAddr() (string, error) {
	for range 50 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", err
		}
		addr := l.Addr().String()
		u, err := net.ListenPacket("udp", addr)
		l.Close()
		if err == nil {
			u.Close()
			return addr, nil
		}
	}
	return "", errors.New("no port is free for both UDP and TCP")
}
