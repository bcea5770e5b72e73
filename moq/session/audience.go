package session

import "sync"

// audience knows which broadcasts have a subscription of the session, in one
// direction. As many entries as there are subscriptions at most.
type audience struct {
	mu   sync.Mutex // guards subs
	subs map[string]int
}

// join counts one more subscription to a broadcast until leave is called. The
// first makes the session a viewer of it, the last one to leave ends that.
func (a *audience) join(path string, t *Traffic) (leave func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.subs == nil {
		a.subs = make(map[string]int)
	}
	if a.subs[path]++; a.subs[path] == 1 {
		t.Broadcasts.Add(1)
	}
	return func() { a.leave(path, t) }
}

func (a *audience) leave(path string, t *Traffic) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.subs[path]--; a.subs[path] == 0 {
		delete(a.subs, path)
		t.BroadcastsClosed.Add(1)
	}
}
