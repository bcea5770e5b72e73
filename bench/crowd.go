package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// crowd is a process of its own with many sessions, which can be stopped.
type crowd struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner // a Held each
	said  *tail
}

// startCrowd runs the command that holds sessions and waits until all are up.
func startCrowd(ctx context.Context, command []string, cfg HoldConfig) (*crowd, error) {
	args := append(command[1:len(command):len(command)], cfg.URL, "--protocol", cfg.Version.String(),
		"--sessions", strconv.Itoa(cfg.Sessions), "--ramp", cfg.Ramp.String(), "--watch", cfg.Watch, "--tls-insecure")
	c := &crowd{cmd: exec.CommandContext(ctx, command[0], args...), said: &tail{}}
	c.cmd.Stderr = c.said
	c.cmd.WaitDelay = 3 * time.Second
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.lines = bufio.NewScanner(out)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := c.next(); err != nil {
		c.cmd.Cancel()
		c.cmd.Wait()
		return nil, fmt.Errorf("%w; it said: %s", err, c.said)
	}
	return c, nil
}

// next reads what the process tells next.
func (c *crowd) next() (h Held, err error) {
	if !c.lines.Scan() {
		return h, errors.Join(errors.New("it ended too early"), c.lines.Err())
	}
	return h, json.Unmarshal(c.lines.Bytes(), &h)
}

// freeze stops the process in its tracks, as if its machine were gone. A nil
// crowd is one of no sessions.
func (c *crowd) freeze() { c.signal(syscall.SIGSTOP) }

// thaw lets it go on.
func (c *crowd) thaw() { c.signal(syscall.SIGCONT) }

// signal fails only when the process has ended, which end tells.
func (c *crowd) signal(s syscall.Signal) {
	if c != nil {
		c.cmd.Process.Signal(s)
	}
}

// end ends the sessions and says in held how they had fared until then.
func (c *crowd) end(held *Held) (err error) {
	if c == nil {
		return nil
	}
	c.thaw()
	c.signal(syscall.SIGTERM)
	*held, err = c.next()
	if waitErr := c.cmd.Wait(); err == nil {
		err = waitErr
	}
	if err != nil {
		return fmt.Errorf("a process of sessions: %w; it said: %s", err, c.said)
	}
	return nil
}
