package session

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// idleTrack is how long a track that nobody wants is kept for a returning
// reader (moq-lite.md §14.5).
const idleTrack = 30 * time.Second

// upstream is a broadcast of the peer: it pulls tracks when they are wanted. A
// [moq.Source].
type upstream struct {
	s    *Session
	path string // as the peer names it
}

// endRequests says that nothing new is asked of the peer.
func (s *Session) endRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
}

// spawn runs f as part of the session, unless that is over: ok is then false.
func (u *upstream) spawn(f func(ctx context.Context)) (ok bool) {
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	if u.s.over {
		return false
	}
	u.s.wg.Go(func() { f(u.s.conn.Context()) })
	return true
}

// Open pulls a track for as long as somebody wants it.
func (u *upstream) Open(w *moq.TrackWriter) {
	ok := u.spawn(func(ctx context.Context) {
		if err := u.run(ctx, w); err != nil {
			u.fail(w, err)
		}
	})
	if !ok {
		w.Lose(moq.ErrClosed)
	}
}

// fail ends a track's supply: with the session the way is lost, else the peer has
// spoken for the publisher.
func (u *upstream) fail(w *moq.TrackWriter, err error) {
	u.s.countTimeout(err)
	if u.s.lost(err) {
		w.Lose(modelError(err))
	} else {
		w.Abort(modelError(err))
	}
}

// lost says whether err is the end of the session, and nothing that the peer said
// of the content. A reset may come before the close that it belongs to; if not, it
// is given time for a withdrawal of the route to come first.
func (s *Session) lost(err error) bool {
	var reset *StreamError
	if errors.As(err, &reset) {
		return reset.Code == StreamSessionClosed && endsSoon(s.conn.Context())
	}
	return s.conn.Context().Err() != nil || overWith(err) || errors.Is(err, moq.ErrClosed)
}

// Fetch pulls one group.
func (u *upstream) Fetch(key moq.TrackKey, g *moq.GroupWriter, frame uint64, priority uint8) (cancel func()) {
	if !u.s.v.HasFetch() {
		return nil
	}
	ctx, stop := context.WithCancel(u.s.conn.Context())
	ok := u.spawn(func(context.Context) {
		defer stop()
		if err := u.fetch(ctx, key, g, frame, priority); err != nil {
			u.s.countTimeout(err)
			g.Abort(modelError(err))
		}
	})
	if !ok {
		g.Abort(moq.ErrClosed)
	}
	return stop
}

// request opens a stream to the peer and writes what is asked. It waits for the
// peer's credit no longer than for an answer.
func (s *Session) request(ctx context.Context, kind lite.BidiStream, class Class, body func(b []byte) []byte) (Stream, error) {
	if s.goneAway.Load() {
		return nil, moq.ErrGoingAway
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.Limits.Request, moq.ErrTimeout)
	defer cancel()
	stream, err := s.conn.OpenStream(ctx)
	if err != nil {
		return nil, fmt.Errorf("open stream: %w", cmp.Or(context.Cause(ctx), err))
	}
	stream.SetPriority(controlUrgency)
	stop := context.AfterFunc(ctx, func() { stream.Reset(StreamCancelled) })
	defer stop()
	if err := s.send(stream, class, body(kind.Append(nil, s.v))); err != nil {
		stream.Reset(StreamCancelled)
		stream.Stop(StreamCancelled)
		return nil, fmt.Errorf("send request: %w", cmp.Or(context.Cause(ctx), err))
	}
	return stream, nil
}

// run is the life of one track.
func (u *upstream) run(ctx context.Context, w *moq.TrackWriter) error {
	info, err := u.info(ctx, w)
	if err != nil {
		return err
	}
	if err := w.SetInfo(info); err != nil {
		return err
	}
	idle := time.NewTimer(idleTrack)
	defer idle.Stop()
	over := false
	for {
		want, changed := w.Demand()
		if want.Over {
			return nil
		}
		if want.Subscribers > 0 && !over {
			if over, err = u.subscribe(ctx, w, want); err != nil {
				return err
			}
			w.Idle()
			idle.Reset(idleTrack)
			continue
		}
		select {
		case <-changed:
		case <-idle.C:
			if w.Release() {
				return nil
			}
			idle.Reset(idleTrack)
		case <-ctx.Done():
			return moq.ErrClosed
		}
	}
}

// info asks the peer what the track is (§7), as long as somebody waits for it.
func (u *upstream) info(ctx context.Context, w *moq.TrackWriter) (moq.TrackInfo, error) {
	if !u.s.v.HasTrackInfo() {
		return moq.DefaultTrackInfo, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, u.s.cfg.Limits.Request, moq.ErrTimeout)
	defer cancel()
	stop := whileWanted(ctx, w, cancel)
	defer stop()
	stream, err := u.s.request(ctx, lite.StreamTrack, ClassTrackInfo, func(b []byte) []byte {
		return lite.Track{Broadcast: u.broadcast(w.Key()), Name: w.Key().Name}.Append(b, u.s.v)
	})
	if err != nil {
		return moq.TrackInfo{}, err
	}
	defer context.AfterFunc(ctx, func() {
		stream.Reset(StreamCancelled)
		stream.Stop(StreamCancelled)
	})()
	body, err := lite.ReadBody(bufio.NewReaderSize(countReads{stream, u.s, ClassTrackInfo}, 64), u.s.v, nil)
	if err != nil {
		stream.Reset(StreamCancelled)
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return moq.TrackInfo{}, fmt.Errorf("track info: %w", err)
	}
	stream.Close()
	m, err := lite.DecodeTrackInfo(body, u.s.v)
	return moq.TrackInfo{Priority: m.Priority, MaxAge: m.MaxAge, Timescale: m.Timescale}, err
}

// whileWanted calls cancel when nobody holds the track any more.
func whileWanted(ctx context.Context, w *moq.TrackWriter, cancel func()) (stop func()) {
	ctx, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			want, changed := w.Demand()
			if want.Holders == 0 {
				cancel()
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() {
		end()
		<-done
	}
}

// broadcast is the path that names the track's broadcast to the peer.
func (u *upstream) broadcast(key moq.TrackKey) string {
	return wire.JoinPath(u.path, key.Suffix)
}

// fetch reads one group of the peer's into g (§10).
func (u *upstream) fetch(ctx context.Context, key moq.TrackKey, g *moq.GroupWriter, frame uint64, priority uint8) error {
	stream, err := u.s.request(ctx, lite.StreamFetch, ClassFetch, func(b []byte) []byte {
		m := lite.Fetch{Broadcast: u.broadcast(key), Track: key.Name, Priority: priority, Group: g.Sequence(), FrameStart: frame}
		return m.Append(b, u.s.v)
	})
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() {
		stream.Reset(StreamCancelled)
		stream.Stop(StreamCancelled)
	})()
	u.s.cfg.Counters.Ingress.Fetches.Add(1)
	in := &ingest{s: u.s, stream: stream, buf: make([]byte, 4<<10)}
	defer in.release()
	if err = in.first(); err == nil {
		err = in.frames(g, u.s.v)
	}
	if err == nil {
		stream.Close()
		return nil
	}
	stream.Reset(StreamCancelled)
	stream.Stop(StreamCancelled)
	if ctx.Err() != nil {
		err = moq.ErrCancelled
	}
	return err
}
