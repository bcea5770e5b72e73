package demo

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
)

func TestProcessIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- RunProcess(ctx, w, "child", "sh", "-c", "trap 'echo bye; exit 0' INT; echo up; while :; do sleep 0.05; done")
		w.Close()
	}()
	lines := bufio.NewScanner(r)
	if !lines.Scan() || lines.Text() != "up" {
		t.Fatalf("the child said %q: %v", lines.Text(), lines.Err())
	}
	cancel()
	if !lines.Scan() || lines.Text() != "bye" {
		t.Errorf("interrupted, the child said %q", lines.Text())
	}
	io.Copy(io.Discard, r)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestProcessThatEnds(t *testing.T) {
	tests := map[string]struct{ program, want string }{
		"by itself": {"true", "the child (process "},
		"missing":   {"/does/not/exist", "start the child: "},
		"badly":     {"false", "exit status 1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := RunProcess(t.Context(), io.Discard, "child", tt.program)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}
