package bench

import (
	"strings"
	"sync"
)

// tailBytes is what a tail keeps.
const tailBytes = 2048

// tail is a writer that keeps the end of what is written. The zero value is ready.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[max(0, len(p)-tailBytes):]...)
	t.kept = t.kept[max(0, len(t.kept)-tailBytes):]
	return len(p), nil
}

// String is what was kept, without the space around it.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.kept))
}
