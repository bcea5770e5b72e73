package moqmesh_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// example is a fenced block of a document: its language, the word behind that, and its text.
type example struct{ language, name, text string }

func examples(doc string) []example {
	var all []example
	for _, m := range regexp.MustCompile("(?ms)^```(\\w+) ?(.*?)\n(.*?)^```$").FindAllStringSubmatch(doc, -1) {
		all = append(all, example{m[1], m[2], m[3]})
	}
	return all
}

// freePort is one that nothing uses, over TCP or UDP.
func freePort(t *testing.T) string {
	t.Helper()
	for range 20 {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer tcp.Close()
		udp, err := net.ListenPacket("udp", tcp.Addr().String())
		if err != nil {
			continue
		}
		defer udp.Close()
		_, port, _ := net.SplitHostPort(tcp.Addr().String())
		return port
	}
	t.Fatal("no port is free over both TCP and UDP")
	return ""
}

// matches compares an output with what a document shows, where … stands for anything within a line.
func matches(shown, got string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(shown), "…", ".*")
	return regexp.MustCompile("^" + pattern + "$").MatchString(got)
}

// The examples run in order, in one shell, as somebody does who follows the README.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the programs")
	}
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	bin, dir := t.TempDir(), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "./cmd/...").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	doc, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(doc)
	for _, port := range []string{"4443", "4444", "4480"} {
		text = strings.ReplaceAll(text, ":"+port, ":"+freePort(t))
	}

	const mark = "=== next"
	var script, shown strings.Builder
	for _, e := range examples(text) {
		switch e.language {
		case "toml":
			if err := os.WriteFile(filepath.Join(dir, e.name), []byte(e.text), 0o600); err != nil {
				t.Fatal(err)
			}
		case "sh":
			fmt.Fprintf(&script, "%secho %q\n", e.text, mark)
		case "text":
			fmt.Fprintf(&shown, "%s%s\n", e.text, mark)
		}
	}
	got := runScript(t, dir, bin, script.String())
	gotParts, wantParts := strings.Split(got, mark+"\n"), strings.Split(shown.String(), mark+"\n")
	for i, want := range wantParts {
		if i >= len(gotParts) {
			t.Fatalf("the examples end before printing\n%s", want)
		}
		if !matches(want, gotParts[i]) {
			t.Errorf("the example prints\n%s\nthe README shows\n%s", gotParts[i], want)
		}
	}
}

// runScript returns what a script prints. What it leaves running ends with it.
func runScript(t *testing.T, dir, bin, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second // the output pipes are shared with what was left running
	err := cmd.Run()
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if err != nil && err != exec.ErrWaitDelay {
		logs, _ := filepath.Glob(filepath.Join(dir, "*.log"))
		for _, name := range logs {
			log, _ := os.ReadFile(name)
			t.Logf("%s:\n%s", filepath.Base(name), log)
		}
		t.Fatalf("%v\n%s\n%s", err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.String()
}
