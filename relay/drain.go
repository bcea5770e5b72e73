package relay

import (
	"context"
	"time"

	"github.com/moqmesh/moqmesh/moq/session"
)

// drain asks every session to leave and waits until all have, drain_timeout has
// passed, or kill ends (relay.md §8). Those left are closed by force.
func (r *Relay) drain(kill context.Context) {
	timeout := r.cfg.Load().DrainTimeout
	if timeout <= 0 {
		return
	}
	r.log.Info("shutdown requested; draining sessions")
	r.draining.Store(true)
	for _, e := range r.sessions.list() {
		if s, _, _ := e.opened(); s != nil {
			r.handlers.Go(func() { r.sayGoodbye(kill, s) })
		}
	}
	r.handlers.Go(func() {
		ctx, cancel := context.WithTimeout(kill, drainNotice)
		defer cancel()
		r.cluster.Goaway(ctx)
	})
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-r.sessions.empty():
		r.log.Info("drain complete: every session left; exiting")
	case <-kill.Done():
		r.log.Warn("second shutdown signal; exiting immediately")
	case <-timer.C:
		n := r.sessions.closeAll(session.CodeGoawayTimeout, "drain timeout")
		r.log.Warn("drain deadline force-closed sessions; exiting", "sessions", n)
	}
}

// drainNotice is how long a session may take to hear that we leave.
const drainNotice = time.Second

func (r *Relay) sayGoodbye(ctx context.Context, s *session.Session) {
	ctx, cancel := context.WithTimeout(ctx, drainNotice)
	defer cancel()
	if err := s.Goaway(ctx, ""); err != nil {
		r.log.Debug("goaway", "err", err)
	}
}
