package session

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// Urgencies of SendStream.SetPriority. Control streams go first; groups start in
// the middle, where transports have their default, and are demoted from there.
const (
	controlUrgency int8 = 0
	groupUrgency   int8 = 3
	lowestUrgency  int8 = 7
)

// acceptBidi answers the peer's requests, each on its own goroutine.
func (s *Session) acceptBidi(ctx context.Context) error {
	for {
		stream, err := s.conn.AcceptStream(ctx)
		if err != nil {
			return fmt.Errorf("accept stream: %w", err)
		}
		if !s.beginOpening() {
			s.limit(stream)
			continue
		}
		if !s.beginRequest() {
			s.endOpening()
			s.limit(stream)
			continue
		}
		s.goRun(func(ctx context.Context) error {
			defer s.endRequest()
			return s.serveStream(ctx, stream)
		})
	}
}

// beginOpening takes a slot for a stream until its header or request is here.
func (s *Session) beginOpening() bool {
	if s.opening.Add(1) <= int64(s.cfg.Limits.Opening) {
		return true
	}
	s.opening.Add(-1)
	return false
}

func (s *Session) endOpening() { s.opening.Add(-1) }

// beginRequest takes one of the peer's request slots.
func (s *Session) beginRequest() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requests >= s.cfg.Limits.Requests+s.cfg.Limits.Subscriptions {
		return false
	}
	s.requests++
	return true
}

func (s *Session) endRequest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests--
}

// beginWatching takes one of the peer's slots for announce requests.
func (s *Session) beginWatching() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watching >= s.cfg.Limits.AnnounceRequests {
		return false
	}
	s.watching++
	return true
}

func (s *Session) endWatching() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watching--
}

// request is a stream that the peer opened, with what it asked.
type request struct {
	Stream
	r     *bufio.Reader
	body  []byte // of its first message
	class Class
}

var requestClasses = map[lite.BidiStream]Class{
	lite.StreamAnnounce:  ClassAnnounce,
	lite.StreamSubscribe: ClassSubscribe,
	lite.StreamFetch:     ClassFetch,
	lite.StreamProbe:     ClassProbe,
	lite.StreamGoaway:    ClassGoaway,
	lite.StreamTrack:     ClassTrackInfo,
}

// serveStream reads what the stream is for and answers it. Only violations that
// end the session are returned.
func (s *Session) serveStream(ctx context.Context, stream Stream) error {
	stream.SetPriority(controlUrgency)
	q := &request{Stream: stream, r: bufio.NewReaderSize(stream, 256)}
	kind, err := s.readRequest(q)
	s.endOpening()
	if err != nil {
		s.refuse(q, err)
		return nil
	}
	if q.r.Buffered() > 0 && !goesOn(kind, s.v) {
		s.refuse(q, errTail)
		return nil
	}
	stream.SetReadDeadline(time.Time{})
	s.cfg.Counters.Control.Received[q.class].Add(uint64(len(q.body) + 2))
	return s.serveRequest(ctx, kind, q)
}

// readRequest reads the stream's type and the first message.
func (s *Session) readRequest(q *request) (lite.BidiStream, error) {
	q.SetReadDeadline(time.Now().Add(s.cfg.Limits.Request))
	t, err := s.v.Encoding().ReadVarint(q.r)
	kind := lite.BidiStream(t)
	if err != nil || !kind.In(s.v) {
		return kind, fmt.Errorf("stream type %d: %w", t, wire.ErrValue)
	}
	q.class = requestClasses[kind]
	if kind == lite.StreamProbe {
		return kind, nil
	}
	if q.body, err = lite.ReadBody(q.r, s.v, nil); err != nil {
		return kind, fmt.Errorf("read request: %w", err)
	}
	return kind, nil
}

// goesOn says whether the opener may say more after its first message: updates of
// a subscription, targets of a probe. Else the request is all (§4).
func goesOn(kind lite.BidiStream, v lite.Version) bool {
	return kind == lite.StreamProbe || kind == lite.StreamSubscribe && v.HasSubscribeUpdate()
}

// errTail: something comes after a request that is all its stream may hold.
var errTail = fmt.Errorf("%w: bytes after the request", moq.ErrCancelled)

func (s *Session) serveRequest(ctx context.Context, kind lite.BidiStream, q *request) error {
	switch kind {
	case lite.StreamAnnounce:
		return s.serveAnnounce(ctx, q)
	case lite.StreamSubscribe:
		s.serveSubscribe(ctx, q)
	case lite.StreamFetch:
		s.serveFetch(ctx, q)
	case lite.StreamProbe:
		s.serveProbe(ctx, q)
	case lite.StreamTrack:
		s.serveTrack(ctx, q)
	case lite.StreamGoaway:
		return s.takeGoaway(q)
	}
	return nil
}

// refuse gives up on a request that we cannot read; the session lives (§4).
func (s *Session) refuse(q *request, err error) {
	s.cfg.Counters.StreamsRefused.Add(1)
	s.log.Debug("request refused", "err", err)
	q.Reset(StreamCancelled)
	q.Stop(StreamCancelled)
}

// limit refuses a request over one of the limits.
func (s *Session) limit(stream Stream) {
	s.cfg.Counters.Limited.Add(1)
	stream.Reset(StreamNoCapacity)
	stream.Stop(StreamNoCapacity)
}

// finish says FIN after the answer. The opener gets a moment to say its own.
func (s *Session) finish(q *request) {
	q.Close()
	q.SetReadDeadline(time.Now().Add(s.cfg.Limits.Request))
}

// reject answers a request with why it cannot be met.
func (q *request) reject(err error) {
	q.Reset(streamCode(err))
	q.Stop(StreamCancelled)
}

// send writes a control message.
func (s *Session) send(stream SendStream, class Class, b []byte) error {
	s.cfg.Counters.Control.Sent[class].Add(uint64(len(b)))
	_, err := stream.Write(b)
	return err
}

// untilClosed returns a context that ends when the opener of q closes its half,
// by FIN or reset, or breaks its silence. An answer not complete by then is given
// up, also one that waits for the opener's credit.
func (s *Session) untilClosed(ctx context.Context, q *request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.wg.Go(func() { cancel(s.awaitClose(q)) })
	stop := context.AfterFunc(ctx, func() { q.Reset(StreamCancelled) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// awaitClose reads what the opener of q has no more to say, and returns what ended it.
func (s *Session) awaitClose(q *request) error {
	if q.class == ClassProbe {
		io.Copy(io.Discard, q.r) // targets, which nobody follows (§11)
	}
	switch _, err := q.r.ReadByte(); err {
	case nil:
		s.cfg.Counters.StreamsRefused.Add(1)
		s.log.Debug("request refused", "err", errTail)
		q.Stop(StreamCancelled)
		return errTail
	case io.EOF:
	default:
		q.Stop(StreamCancelled) // late, or reset already
	}
	return context.Canceled
}

// acceptUni takes the peer's group streams, and its SETUP.
func (s *Session) acceptUni(ctx context.Context) error {
	for {
		stream, err := s.conn.AcceptUniStream(ctx)
		if err != nil {
			return fmt.Errorf("accept stream: %w", err)
		}
		if !s.beginOpening() {
			s.cfg.Counters.Limited.Add(1)
			stream.Stop(StreamNoCapacity)
			continue
		}
		s.goRun(func(context.Context) error { return s.takeUni(stream) })
	}
}

// takeUni reads what a unidirectional stream holds.
func (s *Session) takeUni(stream ReceiveStream) error {
	buf := smallBuffers.Get().(*[]byte)
	defer smallBuffers.Put(buf)
	in := &ingest{s: s, stream: stream, buf: *buf}
	stream.SetReadDeadline(time.Now().Add(s.cfg.Limits.Request))
	t, err := in.varint(s.v.Encoding())
	switch kind := lite.UniStream(t); {
	case err == nil && kind.In(s.v) && kind == lite.StreamGroup:
		in.group()
		return nil
	case err == nil && kind.In(s.v) && kind == lite.StreamSetup:
		defer s.endOpening()
		return s.takeSetup(bufio.NewReader(in))
	}
	s.endOpening()
	s.cfg.Counters.StreamsRefused.Add(1)
	stream.Stop(StreamCancelled)
	return nil
}
