package session

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// allowed says whether the peer may see an absolute path.
func (s *Session) allowed(path string) bool {
	rel, ok := wire.TrimPathPrefix(path, s.access.Root)
	return ok && s.access.Subscribe(rel)
}

// find looks up what serves a broadcast that the peer names.
func (s *Session) find(ctx context.Context, path string) (*moq.Broadcast, string, error) {
	abs := wire.JoinPath(s.access.Root, path)
	if s.access.NoSubscribe || !s.allowed(abs) {
		return nil, "", moq.ErrUnroutable // not told apart from absent
	}
	if s.leaving.Load() && s.v >= lite.V04 {
		return nil, "", moq.ErrGoingAway
	}
	r, err := s.reader(ctx, 0)
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, rerouting)
	defer cancel()
	return s.access.Origin.Await(ctx, abs, r)
}

// rerouting is how long a request waits for our route to leave the peer that it
// comes from: what moves a route reaches us within a hold (300 ms) and a way.
const rerouting = 2 * time.Second

// hold finds a track that the peer names. The caller drops it.
func (s *Session) hold(ctx context.Context, broadcast, track string) (*moq.Track, error) {
	b, suffix, err := s.find(ctx, broadcast)
	if err != nil {
		return nil, err
	}
	return b.Hold(moq.TrackKey{Suffix: suffix, Name: track})
}

// serveTrack answers TRACK with the track's info (§7).
func (s *Session) serveTrack(ctx context.Context, q *request) {
	m, err := lite.DecodeTrack(q.body, s.v)
	if err != nil {
		s.refuse(q, err)
		return
	}
	defer s.owe()()
	ctx, cancel := s.untilClosed(ctx, q)
	defer cancel()
	info, err := s.trackInfo(ctx, m)
	if err != nil {
		q.reject(err)
		return
	}
	answer := lite.TrackInfo{Priority: info.Priority, MaxAge: info.MaxAge, Timescale: info.Timescale}
	if s.send(q, q.class, answer.Append(nil, s.v)) != nil {
		return
	}
	s.finish(q)
}

func (s *Session) trackInfo(ctx context.Context, m lite.Track) (moq.TrackInfo, error) {
	t, err := s.hold(ctx, m.Broadcast, m.Name)
	if err != nil {
		return moq.TrackInfo{}, err
	}
	defer t.Drop()
	return t.Info(ctx)
}

// serveSubscribe answers SUBSCRIBE for as long as it runs (§8).
func (s *Session) serveSubscribe(ctx context.Context, q *request) {
	m, err := lite.DecodeSubscribe(q.body, s.v)
	if err != nil {
		s.refuse(q, err)
		return
	}
	if err := s.claim(m.ID); err != nil {
		s.limit(q)
		return
	}
	defer s.unclaim(m.ID)
	defer s.owe()() // before the publisher can see the demand, write, and finish
	v, err := s.subscribe(ctx, q, m)
	if err != nil {
		q.reject(err)
		return
	}
	s.cfg.Counters.Egress.SubscriptionsOpened.Add(1)
	defer s.cfg.Counters.Egress.SubscriptionsClosed.Add(1)
	defer s.viewed.join(m.Broadcast, &s.cfg.Counters.Egress)()
	answered := make(chan struct{})
	s.wg.Go(func() {
		defer close(answered)
		s.readUpdates(q, v)
	})
	select {
	case <-v.donec:
	case <-ctx.Done():
		v.sub.Close() // the sender may be gone already
	}
	// Our peers close their half when the last group has arrived: until then the
	// session should not be closed over it (see Finish).
	timer := time.NewTimer(lastWords)
	defer timer.Stop()
	select {
	case <-answered:
	case <-timer.C:
	case <-ctx.Done():
	}
	q.Stop(StreamCancelled) // ends readUpdates, if the peer's FIN has not
}

// lastWords is how long a subscription that we ended waits for the peer's end.
const lastWords = time.Second

// claim registers a subscribe id of the peer, within the limit.
func (s *Session) claim(id uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.served[id]; ok || len(s.served) >= s.cfg.Limits.Subscriptions {
		return errors.New("no subscription left")
	}
	s.served[id] = struct{}{}
	return nil
}

func (s *Session) unclaim(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.served, id)
}

func (s *Session) subscribe(ctx context.Context, q *request, m lite.Subscribe) (*served, error) {
	b, suffix, err := s.find(ctx, m.Broadcast)
	if err != nil {
		return nil, err
	}
	v := &served{
		s: s, id: m.ID, stream: q.Stream, opts: s.options(m.Preferences),
		priority: m.Priority, urgency: groupUrgency, donec: make(chan struct{}), since: time.Now(),
	}
	if s.v < lite.V05 {
		v.answers = lite.SubscribeOK{Preferences: lite.Preferences{Priority: m.Priority}}.Append(nil, s.v)
	}
	key := moq.TrackKey{Suffix: suffix, Name: m.Track}
	// The track may call before we know the subscription.
	var known atomic.Bool
	v.sub, err = b.Subscribe(key, v.opts, func() {
		if known.Load() {
			s.sender.mark(v)
		}
	})
	if err != nil {
		return nil, err
	}
	known.Store(true)
	s.sender.mark(v)
	return v, nil
}

// options reads the preferences of the wire (§14.3).
func (s *Session) options(p lite.Preferences) moq.SubscribeOptions {
	o := moq.SubscribeOptions{
		Priority: p.Priority,
		MaxAge:   p.MaxAge,
		End:      moq.Limit{Set: p.GroupEnd.OK, V: p.GroupEnd.V},
		EndFrame: moq.Limit{Set: p.FrameEnd.OK, V: p.FrameEnd.V},
	}
	switch {
	case p.GroupStart.OK:
		o.Start = moq.Start{Kind: moq.StartAt, Group: p.GroupStart.V, Frame: p.FrameStart}
	case s.v >= lite.V06:
		o.Start.Kind = moq.StartFresh
	}
	if s.v < lite.V03 {
		o.MaxAge = moq.Unlimited
	}
	return o
}

// readUpdates applies SUBSCRIBE_UPDATE until the peer ends the subscription (§8.2).
func (s *Session) readUpdates(q *request, v *served) {
	defer func() {
		v.left.Store(true)
		s.sender.mark(v)
	}()
	var buf []byte
	for s.v.HasSubscribeUpdate() {
		body, err := lite.ReadBody(q.r, s.v, buf)
		if err != nil {
			return
		}
		buf = body
		s.cfg.Counters.Control.Received[ClassSubscribe].Add(uint64(len(body) + 1))
		m, err := lite.DecodeSubscribeUpdate(body, s.v)
		if err != nil {
			s.cfg.Counters.StreamsRefused.Add(1)
			q.Reset(StreamMalformed)
			return
		}
		v.update.Store(&subscriptionUpdate{s.options(m.Preferences)})
		s.sender.mark(v)
	}
	if s.awaitClose(q) == errTail {
		q.Reset(StreamCancelled)
	}
}

// serveFetch answers FETCH with the frames of one group (§10).
func (s *Session) serveFetch(ctx context.Context, q *request) {
	m, err := lite.DecodeFetch(q.body, s.v)
	if err != nil {
		s.refuse(q, err)
		return
	}
	defer s.owe()()
	ctx, cancel := s.untilClosed(ctx, q)
	defer cancel()
	s.cfg.Counters.Egress.Fetches.Add(1)
	if err := s.fetchTo(ctx, q, m); err != nil {
		q.reject(err)
		return
	}
	s.finish(q)
}

func (s *Session) fetchTo(ctx context.Context, q *request, m lite.Fetch) error {
	t, err := s.hold(ctx, m.Broadcast, m.Track)
	if err != nil {
		return err
	}
	defer t.Drop()
	f, err := s.fetch(ctx, t, m)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.copyFrames(ctx, q, f, m)
}

// fetch finds the group, or begins to pull it. An origin too old to be asked is
// waited for as long as any answer is.
func (s *Session) fetch(ctx context.Context, t *moq.Track, m lite.Fetch) (*moq.Fetched, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.Limits.Request, moq.ErrTimeout)
	defer cancel()
	_, err := t.Info(ctx)
	var f *moq.Fetched
	if err == nil {
		f, err = t.Fetch(ctx, m.Group, m.FrameStart, m.Priority)
	}
	if err != nil && ctx.Err() != nil {
		s.countTimeout(err)
	}
	return f, err
}

// copyFrames writes frames as they come, up to the last one wanted.
func (s *Session) copyFrames(ctx context.Context, w io.Writer, f *moq.Fetched, m lite.Fetch) error {
	last := uint64(moq.MaxFrames)
	if m.FrameEnd.OK {
		last = m.FrameEnd.V
	}
	var b []byte
	for {
		p, state, ok, err := f.Next()
		switch {
		case err != nil:
			return err
		case !ok && state == moq.Done:
			return nil
		case !ok:
			if err := f.Wait(ctx); err != nil {
				return err
			}
			continue
		case uint64(p.Index) > last:
			return nil
		}
		b = b[:0]
		if p.Start {
			b = lite.AppendFrameHeader(b, s.v, int64(p.Timestamp)-int64(p.Previous), p.Size)
		}
		b = append(b, p.Payload...)
		s.cfg.Counters.Egress.Bytes.Add(uint64(len(p.Payload)))
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
}
