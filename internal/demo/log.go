package demo

import (
	"io"
	"sync"
)

// NewLog lets several processes write to w, one at a time.
func NewLog(w io.Writer) io.Writer { return &log{w: w} }

type log struct {
	mu sync.Mutex // guards w
	w  io.Writer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
