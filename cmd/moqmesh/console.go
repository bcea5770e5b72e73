package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
)

// console is standard error: lines that stay, and on a terminal one at the bottom
// that is replaced.
type console struct {
	terminal bool
	level    slog.LevelVar // of log

	mu     sync.Mutex
	w      io.Writer
	status bool // the replaceable line is there
}

func newConsole(w io.Writer) *console { return &console{w: w, terminal: isTerminal(w)} }

// isTerminal says whether a person may be watching w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// eraseLine goes to the beginning of the line and clears it.
const eraseLine = "\r\x1b[K"

// Write adds lines that stay.
func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.eraseLocked()
	return c.w.Write(p)
}

// show replaces the line at the bottom.
func (c *console) show(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = true
	fmt.Fprint(c.w, eraseLine, line)
}

// clear takes the line at the bottom away.
func (c *console) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.eraseLocked()
}

func (c *console) eraseLocked() {
	if c.status {
		fmt.Fprint(c.w, eraseLine)
		c.status = false
	}
}

// log returns a logger for people: without times.
func (c *console) log(verbose bool) *slog.Logger {
	c.level.Set(slog.LevelWarn)
	if verbose {
		c.level.Set(slog.LevelDebug)
	}
	return slog.New(slog.NewTextHandler(c, &slog.HandlerOptions{Level: &c.level, ReplaceAttr: withoutTime}))
}

// hush leaves warnings out of the log from now on: what ends, ends on purpose.
func (c *console) hush() { c.level.Set(slog.LevelError) }

func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey && len(groups) == 0 {
		return slog.Attr{}
	}
	return a
}
