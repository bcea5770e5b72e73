package cluster

import (
	"context"
	"time"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

const (
	// overlap is how long a session may serve on after a change of settings.
	overlap = 10 * time.Second
	// settle is what announcements get to arrive over a new session before the one it replaces may close.
	settle = time.Second
	// idleEvery is the time between two looks whether the replaced session has nothing to do any more.
	idleEvery = 250 * time.Millisecond
)

// follow takes other settings over. Where they need another session it is dialled first.
func (l *link) follow(ctx context.Context, e peers.Entry) {
	from := l.entry
	l.entry = e
	switch peers.Transition(from, e) {
	case peers.Reprice:
		l.reprice()
	case peers.Redial:
		l.c.cfg.Counters.Replacements.Add(1)
		l.target, l.backoff = nil, peers.Backoff{}
		l.dial(ctx)
		l.replaceWithin(overlap)
	}
}

// askedToLeave follows a GOAWAY. Where it names no place, or one that we may not go to, the session serves on until the
// peer closes it: the session itself prices its routes so that nothing new is begun there.
func (l *link) askedToLeave(ctx context.Context, a *attempt, uri string) {
	if a != l.live {
		return // it is being replaced already
	}
	a.leaving = true
	log := l.c.cfg.Log.With("peer", string(a.entry.Key))
	target, err := peers.Redirected(l.entry, uri, l.c.cfg.Redirect)
	switch {
	case uri == "":
		log.Info("peer is restarting; serving until it closes the session")
		return
	case err != nil:
		log.Warn("upstream GOAWAY is not followed; serving until the peer closes the session", "err", err)
		return
	}
	l.target = &target
	l.replaceWithin(l.c.cfg.Handover)
	if a.lived(time.Now()) < peers.Stable {
		// Straight after the handshake it counts as a failed attempt: two relays that send us to each other get no faster
		// game than any other peer that fails.
		wait := l.backoff.Wait(0, l.c.cfg.random())
		l.c.cfg.Counters.Failures.Add(1)
		log.Warn("cluster peer redirects at once; will follow", "other", string(target.Key), "wait", wait.Round(time.Millisecond))
		l.retry.Reset(wait)
		return
	}
	l.c.cfg.Counters.Migrations.Add(1)
	log.Info("upstream GOAWAY; migrating", "other", string(target.Key))
	l.dial(ctx)
}

// replaceWithin closes the live session after a time, whether its successor is up by then or not. What still drains for
// an earlier change has had its time.
func (l *link) replaceWithin(d time.Duration) {
	if l.live == nil {
		return
	}
	if l.old != nil {
		l.old.cancel(errReplaced)
	}
	l.due = l.live
	l.deadline.Reset(d)
}

// retire lets a session run out behind its successor: its routes are the dearest, so subscriptions move at their next
// group, and it closes when nothing runs over it, or at its deadline.
func (l *link) retire(a *attempt) {
	l.old = a
	a.session.SetLinkCost(lite.Some(moq.MaxCost))
	l.idle.Reset(settle)
}

func (l *link) lookIdle() {
	switch {
	case l.old == nil:
	case l.old.session.Idle():
		l.old.cancel(errReplaced)
	default:
		l.idle.Reset(idleEvery)
	}
}

// overstayed closes what was to be replaced by now.
func (l *link) overstayed() {
	if l.due == nil {
		return
	}
	l.c.cfg.Counters.Overstays.Add(1)
	l.c.cfg.Log.Warn("old session did not drain in time; closing", "peer", string(l.due.entry.Key))
	l.due.cancel(&session.CloseError{Code: session.CodeGoawayTimeout, Reason: "handed over"})
}
