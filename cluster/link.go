package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/moq/session"
)

// link keeps one peer dialled. Its goroutine owns every field up to mu. Of its sessions there are at most three:
//
//	next   being dialled, to become live
//	live   up and serving
//	old    was live; serves what has not moved to its successor yet
type link struct {
	c      *Cluster
	key    peers.Key
	stop   context.CancelFunc // set by the cluster before run
	orders chan peers.Entry   // the newest settings; holds one
	events chan event

	entry    peers.Entry  // the settings to follow
	target   *peers.Entry // where the peer sent us, for the next dial only
	backoff  peers.Backoff
	measured uint64 // the last price that was measured; 0 = none

	attempts uint64
	lastErr  string
	rejected bool // the peer turned us away the last time

	next, live, old *attempt
	due             *attempt    // live or old: what deadline closes
	retry           *time.Timer // the next dial is due
	deadline        *time.Timer // the session that is to be replaced closes
	idle            *time.Timer // look whether old has nothing to do any more
	measure         *time.Timer // the next sample is due
	sessions        sync.WaitGroup

	mu      sync.Mutex // guards status and serving
	status  LinkStatus
	serving Session // nil = there is no session
}

func newLink(c *Cluster, e peers.Entry) *link {
	l := &link{
		c: c, key: e.Key, entry: e,
		orders: make(chan peers.Entry, 1), events: make(chan event),
	}
	l.publish()
	return l
}

// order tells the link to follow other settings. Only the cluster's goroutine calls it.
func (l *link) order(e peers.Entry) {
	select {
	case <-l.orders:
	default:
	}
	l.orders <- e
}

func stoppedTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// run keeps the peer dialled until ctx ends.
func (l *link) run(ctx context.Context) {
	defer l.sessions.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer l.leave()
	l.retry, l.deadline, l.idle, l.measure = stoppedTimer(), stoppedTimer(), stoppedTimer(), stoppedTimer()
	l.dial(ctx)
	for {
		l.publish()
		select {
		case <-ctx.Done():
			return
		case e := <-l.orders:
			l.follow(ctx, e)
		case ev := <-l.events:
			l.take(ctx, ev)
		case <-l.retry.C:
			l.dial(ctx)
		case <-l.deadline.C:
			l.overstayed()
		case <-l.idle.C:
			l.lookIdle()
		case <-l.measure.C:
			l.takeSample()
		}
	}
}

// leave stops the timers and the counting of a link that is up.
func (l *link) leave() {
	for _, t := range []*time.Timer{l.retry, l.deadline, l.idle, l.measure} {
		t.Stop()
	}
	if l.live != nil {
		l.c.unlinked()
		l.live = nil
	}
	l.next, l.old, l.due = nil, nil, nil
	l.publish()
}

// dial begins an attempt, in place of one that has not come up yet.
func (l *link) dial(ctx context.Context) {
	if l.next != nil {
		l.next.cancel(errReplaced)
	}
	l.retry.Stop()
	e := l.entry
	if l.target != nil {
		e, l.target = *l.target, nil
	}
	serving, cancel := context.WithCancelCause(ctx)
	a := &attempt{entry: e, cancel: cancel, goaway: make(chan string, 1)}
	a.request = l.request(e, a.goaway)
	l.next = a
	l.attempts++
	l.c.cfg.Counters.Dials.Add(1)
	l.c.cfg.Log.Info("dialing cluster peer", "peer", string(e.Key))
	l.sessions.Go(func() {
		defer cancel(nil)
		a.try(serving, l.c.cfg.Dial, func(what any) {
			select {
			case l.events <- event{a, what}:
			case <-ctx.Done(): // the link is over
			}
		})
	})
}

func (l *link) request(e peers.Entry, goaway chan<- string) Request {
	return Request{
		URL: e.DialURL(l.c.cfg.Token), Peer: e.Key, PeerID: e.ID,
		LinkCost: l.price(), Declare: l.declared(e),
		OnGoaway: func(uri string) {
			select {
			case goaway <- uri:
			default:
			}
		},
	}
}

var errReplaced = &session.CloseError{Code: session.CodeNoError, Reason: "replaced"}

// take follows what an attempt tells. One that is none of the three any more is history.
func (l *link) take(ctx context.Context, ev event) {
	a := ev.from
	if a != l.next && a != l.live && a != l.old {
		return
	}
	switch what := ev.what.(type) {
	case cameUp:
		l.cameUp(a, what)
	case askedToLeave:
		l.askedToLeave(ctx, a, what.uri)
	case ended:
		l.ended(a, what.err)
	}
}

func (l *link) cameUp(a *attempt, up cameUp) {
	a.session, a.setup, a.id = up.session, up.setup, up.setup.Hop
	if a.id == 0 {
		a.id = a.entry.ID
	}
	if a.refused = l.c.meet(string(a.entry.Key), a.id); a.refused != nil {
		a.cancel(&session.CloseError{Code: session.CodeInternal, Reason: a.refused.Error()})
		return
	}
	a.up = time.Now()
	before := l.live
	l.next, l.live = nil, a
	if before == nil {
		l.c.linked()
	} else {
		l.retire(before)
	}
	l.reprice()
	l.c.cfg.Log.Info("cluster peer connected", "peer", string(a.entry.Key), "conn", a.session.Conn, "proto", a.session.Proto, "hop_id", a.id)
	l.publish()
	l.c.lookForTwin(l.key, a.id)
}

func (l *link) ended(a *attempt, err error) {
	if a == l.due {
		l.due = nil
		l.deadline.Stop()
	}
	if a == l.old {
		l.old = nil
		return
	}
	if a.refused != nil {
		err = a.refused
	}
	if a == l.live {
		l.live = nil
		l.c.unlinked()
	} else {
		l.next = nil
	}
	wait := time.Duration(0)
	if l.next == nil {
		wait = l.backoff.Wait(a.lived(time.Now()), l.c.cfg.random())
		l.retry.Reset(wait)
	}
	l.report(a, err, wait)
}

// report says why a session ended: one line for each attempt, so that a peer which stays away stays visible.
func (l *link) report(a *attempt, err error, wait time.Duration) {
	log := l.c.cfg.Log.With("peer", string(a.entry.Key), "wait", wait.Round(time.Millisecond))
	if !a.up.IsZero() && clean(err) {
		l.c.cfg.Counters.Closes.Add(1)
		l.lastErr, l.rejected = "", false
		log.Info("cluster peer session closed; reconnecting", "dur", a.lived(time.Now()).Round(time.Millisecond))
		return
	}
	if err == nil {
		err = errors.New("session ended before it was up")
	}
	l.c.cfg.Counters.Failures.Add(1)
	l.lastErr, l.rejected = redact(err.Error(), l.secrets(a)...), rejected(err)
	if l.rejected {
		l.c.cfg.Counters.Rejections.Add(1)
	}
	log.Warn("cluster peer error; will retry", "err", l.lastErr, "rejected", l.rejected)
}

// secrets are what an error of this attempt must not show.
func (l *link) secrets(a *attempt) []string {
	return []string{a.entry.Token, l.entry.Token, l.c.cfg.Token}
}
