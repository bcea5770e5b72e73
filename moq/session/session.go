package session

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// Config is our side of a session. It is not changed once handed over.
type Config struct {
	// Server says that the peer dialled us.
	Server bool
	// Version is what the transport negotiated; zero where that is "moql" and
	// SETUP decides among Legacy.
	Version lite.Version
	// Legacy are the versions for a SETUP negotiation, best first; nil means 02, 01.
	Legacy []lite.Version
	// Setup is what we say of ourselves.
	Setup lite.Setup
	// AssignedID stands for the peer where its wire carries no hop id; unique on
	// this process. 0 draws one at random.
	AssignedID uint64
	// LinkCost prices what we pull from the peer, and overrides what it declares.
	// Absent: its declaration, else 1.
	LinkCost lite.Optional
	// Limits bound what the peer may make us hold.
	Limits Limits
	// Log is for this session; nil discards.
	Log *slog.Logger
	// Counters may be shared; nil counts into the void.
	Counters *Counters
	// OnGoaway is told of the peer's GOAWAY; nil ignores it. It must not block.
	OnGoaway func(uri string)
}

// Limits bound one session. Zero fields take the defaults of DefaultLimits.
type Limits struct {
	// Subscriptions is how many SUBSCRIBE the peer may have running.
	Subscriptions int
	// Requests is how many TRACK, FETCH, PROBE and ANNOUNCE_REQUEST it may have open.
	Requests int
	// Opening is how many streams it may have open whose header or request has not
	// come whole.
	Opening int
	// AnnounceRequests is how many of these may be ANNOUNCE_REQUEST, which remember
	// every path that they tell.
	AnnounceRequests int
	// Announcements is how many paths it may have announced.
	Announcements int
	// OpenGroups is how many group streams we keep open for one subscription;
	// the oldest is reset to begin another.
	OpenGroups int
	// QueueBytes is how much we queue in the transport for a peer that does not
	// keep up before its groups wait, and age.
	QueueBytes int
	// Bandwidth is how many bits per second of content the peer gets: beyond it
	// no group is begun, and those that wait age. Zero: no bound.
	Bandwidth int64
	// MaxHops is the longest hop list that the peer is told of, our own hop included.
	// What is taken from it is for the origin's table to judge.
	MaxHops int
	// Request is how long the peer may take to answer a request of ours.
	Request time.Duration
}

// DefaultLimits suit a relay.
var DefaultLimits = Limits{
	Subscriptions:    1024,
	Requests:         1024,
	Opening:          1024,
	AnnounceRequests: 64,
	Announcements:    10_000,
	OpenGroups:       32,
	QueueBytes:       8 << 20,
	MaxHops:          moq.MaxHops,
	Request:          10 * time.Second,
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	for _, f := range []struct{ v, def *int }{
		{&l.Subscriptions, &d.Subscriptions}, {&l.Requests, &d.Requests},
		{&l.Opening, &d.Opening}, {&l.AnnounceRequests, &d.AnnounceRequests},
		{&l.Announcements, &d.Announcements}, {&l.OpenGroups, &d.OpenGroups},
		{&l.QueueBytes, &d.QueueBytes}, {&l.MaxHops, &d.MaxHops},
	} {
		if *f.v == 0 {
			*f.v = *f.def
		}
	}
	if l.Request == 0 {
		l.Request = d.Request
	}
	return l
}

// Access is what a peer may do, and where.
type Access struct {
	// Origin holds what we offer the peer and takes what it announces.
	Origin *moq.Origin
	// Root is the path that the names on the wire are relative to; clean.
	Root string
	// Publish and Subscribe say which paths (relative to Root) the peer may
	// announce and which it may learn of and read. nil = all.
	Publish, Subscribe func(path string) bool
	// NoPublish: the peer's announcements are not asked for. NoSubscribe: its
	// requests are refused.
	NoPublish, NoSubscribe bool
	// Peer marks a relay of our own cluster: its routes count as forwarded, and
	// it sees hidden names.
	Peer bool
	// Limits, if not nil, bound the peer from now on instead of Config.Limits: how
	// much it may hold depends on who it is. But QueueBytes stays what it was.
	Limits *Limits
	// Counters, if not nil, count what the session does from now on.
	Counters *Counters
}

// Session is one MoQ session. Methods are safe for concurrent use.
type Session struct {
	conn Conn
	cfg  Config
	v    lite.Version
	log  *slog.Logger

	access  Access
	link    link
	sender  *sender
	opening atomic.Int64 // streams of the peer whose header or request has not come whole
	grams   sync.Once    // starts receiveDatagrams with our first subscription

	viewed audience // broadcasts that the peer reads
	pulled audience // broadcasts of the peer's that we read

	setupOnce sync.Once
	setupc    chan struct{} // closed when peer is set
	peer      lite.Setup    // valid once setupc is closed

	legacy Stream // the SETUP stream of 01 and 02, which carries the session

	wg sync.WaitGroup // everything that runs for the session

	mu         sync.Mutex             // guards what follows
	nextID     uint64                 // next subscribe id of ours
	subscribed map[uint64]*subscribed // subscriptions of ours, by id
	over       bool                   // nothing new may start: Run is about to wait
	served     map[uint64]struct{}    // subscribe ids of the peer now running
	requests   int
	watching   int // announce requests among them
	owed       int // answers the peer still waits for: see Finish
	settled    chan struct{}

	goneAway atomic.Bool // the peer sent GOAWAY
	failed   atomic.Bool // fail has closed the connection
	leaving  atomic.Bool // we did
}

// Version is the version the session speaks.
func (s *Session) Version() lite.Version { return s.v }

// Conn is the connection under the session.
func (s *Session) Conn() Conn { return s.conn }

// PeerSetup waits for what the peer says of itself; up to 04 that is nothing.
func (s *Session) PeerSetup(ctx context.Context) (lite.Setup, error) {
	select {
	case <-s.setupc:
		return s.peer, nil
	case <-s.conn.Context().Done():
		return lite.Setup{}, context.Cause(s.conn.Context())
	case <-ctx.Done():
		return lite.Setup{}, context.Cause(ctx)
	}
}

// Run serves the session until it ends, by either side or with ctx, and returns
// why: a *CloseError where a code was given, else a *LostError. Nothing of it is
// left behind then.
func (s *Session) Run(ctx context.Context, access Access) error {
	s.access = access
	if access.Counters != nil {
		s.mu.Lock() // for a Goaway that comes this early
		s.cfg.Counters = access.Counters
		s.mu.Unlock()
	}
	if access.Limits != nil {
		s.cfg.Limits = access.Limits.withDefaults()
		s.sender.share.rate = s.cfg.Limits.Bandwidth / 8
	}
	if s.access.Publish == nil {
		s.access.Publish = func(string) bool { return true }
	}
	if s.access.Subscribe == nil {
		s.access.Subscribe = func(string) bool { return true }
	}
	stop := context.AfterFunc(ctx, func() { s.fail(context.Cause(ctx)) })
	defer stop()
	s.start()
	<-s.conn.Context().Done()
	s.endRequests()
	s.wg.Wait() // tracks that were said to have ended are complete by then
	cause := context.Cause(s.conn.Context())
	s.cfg.Counters.Ended[endOf(cause)].Add(1)
	return cause
}

// start begins the loops that every session has.
func (s *Session) start() {
	s.goRun(s.sender.run)
	s.goRun(s.acceptUni)
	s.goRun(s.acceptBidi)
	if s.legacy != nil {
		s.goRun(s.watchLegacy)
	}
	if !s.access.NoPublish {
		s.goRun(s.discover)
	}
}

// goRun runs f as part of the session: its error ends it.
func (s *Session) goRun(f func(context.Context) error) {
	s.wg.Go(func() {
		ctx := s.conn.Context()
		err := f(ctx)
		if err == nil || overWith(err) && endsSoon(ctx) {
			return // nothing wrong, or what the connection says itself
		}
		s.fail(err)
	})
}

// overWith says whether err is the end of the connection, whatever noticed it.
func overWith(err error) bool {
	var (
		closed *CloseError
		lost   *LostError
	)
	return errors.As(err, &closed) || errors.As(err, &lost)
}

// fail closes the connection with the code that err stands for.
func (s *Session) fail(err error) {
	var (
		v      *violation
		closed *CloseError
		lost   *LostError
	)
	switch {
	case s.conn.Context().Err() != nil || !s.failed.CompareAndSwap(false, true):
		// The first reason is the one; the others follow from it.
	case errors.As(err, &closed):
		s.conn.Close(closed.Code, closed.Reason)
	case errors.As(err, &lost):
		s.conn.Close(CodeInternal, "")
	case errors.As(err, &v):
		s.cfg.Counters.Violations.Add(1)
		s.log.Debug("closing session", "err", v.err)
		s.conn.Close(v.code, v.err.Error())
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		s.conn.Close(CodeControlTimeout, "")
	case errors.Is(err, context.Canceled):
		s.conn.Close(CodeNoError, "")
	default:
		s.conn.Close(CodeInternal, "")
	}
}

// Close ends the session at once with a code.
func (s *Session) Close(code SessionCode, reason string) { s.conn.Close(code, reason) }

// Finish waits until the peer has been sent all that ended tracks owe it, or ctx
// ends, then closes without an error.
func (s *Session) Finish(ctx context.Context) {
	s.mu.Lock()
	for s.owed > 0 && ctx.Err() == nil && s.conn.Context().Err() == nil {
		settled := make(chan struct{})
		s.settled = settled
		s.mu.Unlock()
		select {
		case <-settled:
		case <-ctx.Done():
		case <-s.conn.Context().Done():
		}
		s.mu.Lock()
	}
	s.mu.Unlock()
	s.flush(ctx)
	s.Close(CodeNoError, "")
}

// leastPause is how long the transport must have sent nothing to be done, where
// round trips are shorter.
const leastPause = 20 * time.Millisecond

// flush waits until the transport has sent nothing for two round trips, or ctx
// ends: closing drops what is queued, and nothing says when the peer has it all.
func (s *Session) flush(ctx context.Context) {
	for before := s.conn.Stats(); ; {
		timer := time.NewTimer(max(2*before.RTT, leastPause))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		case <-s.conn.Context().Done():
			timer.Stop()
			return
		}
		now := s.conn.Stats()
		if now.BytesSent == before.BytesSent {
			return
		}
		before = now
	}
}

// countTimeout counts err where it says that an answer did not come in time.
func (s *Session) countTimeout(err error) {
	if errors.Is(err, moq.ErrTimeout) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		s.cfg.Counters.TimedOut.Add(1)
	}
}

// owe counts an answer that the peer waits for; the returned func settles it.
func (s *Session) owe() (settle func()) {
	s.mu.Lock()
	s.owed++
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.owed--
		if s.settled != nil {
			close(s.settled)
			s.settled = nil
		}
	}
}

// reader is who the peer is when it asks for routes: for announcements the
// exclude hop it names on old versions counts, else its declared or assigned id
// (moq-lite.md §15.5).
func (s *Session) reader(ctx context.Context, excludeHop uint64) (moq.Reader, error) {
	r := moq.Reader{ID: s.cfg.AssignedID, MaxHops: s.cfg.Limits.MaxHops, Hidden: s.access.Peer, Allow: s.allowed}
	if excludeHop != 0 {
		r.ID = excludeHop
	} else if s.v.HasSetup() {
		setup, err := s.PeerSetup(ctx)
		if err != nil {
			return r, err
		}
		if setup.Hop != 0 {
			r.ID = setup.Hop
		}
	}
	return r, nil
}
