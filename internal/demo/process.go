package demo

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// patience is how long a program may take to end before it is killed.
const patience = 15 * time.Second

// RunProcess runs a program until ctx ends, then interrupts it, waits and returns
// nil. That it cannot be started, or ends by itself, is an error that names it. What
// it writes goes to log.
func RunProcess(ctx context.Context, log io.Writer, name, program string, args ...string) error {
	// The kernel ends the child with the thread that started it (see attributes).
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = attributes()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = patience
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the %s: %w", name, err)
	}
	cmd.Wait() // the process's state tells more
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("the %s (process %d) ended by itself: %v", name, cmd.Process.Pid, cmd.ProcessState)
}
