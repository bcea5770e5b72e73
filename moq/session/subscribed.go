package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// subscribed is one SUBSCRIBE of ours, which feeds a track.
type subscribed struct {
	s      *Session
	w      *moq.TrackWriter
	id     uint64
	stream Stream

	changed chan struct{} // has a token when a group has come, or its stream ended

	mu      sync.Mutex               // guards what follows
	request Stream                   // as stream; nil until the request is out, which a group may overtake
	taken   bool                     // the peer has accepted: with an answer, or a group
	streams map[uint64]ReceiveStream // groups being read, by sequence
	closed  bool
	started bool
	from    uint64 // first group sent, which need not be the lowest; valid where started
	lowest  uint64 // sequence that has come; the highest number until one has
	floor   uint64 // lowest sequence that we asked for
	cut     bool   // a group broke off with the session
	seen    uint64 // groups that have come, by stream or datagram, or were declared dropped
	end     uint64 // as the peer said; 0 until then
	counted uint64 // group streams in all, as the peer said; 07
}

// subscribe pulls the track while it is wanted. over: the track has ended, and
// so has w; else nobody wants it now.
func (u *upstream) subscribe(ctx context.Context, w *moq.TrackWriter, want moq.Demand) (over bool, err error) {
	c := &subscribed{
		s: u.s, w: w, streams: make(map[uint64]ReceiveStream), changed: make(chan struct{}, 1),
		lowest: math.MaxUint64, floor: u.s.floor(want),
	}
	c.id = u.s.register(c)
	defer u.s.unregister(c)
	c.stream, err = u.s.request(ctx, lite.StreamSubscribe, ClassSubscribe, func(b []byte) []byte {
		m := lite.Subscribe{ID: c.id, Broadcast: u.broadcast(w.Key()), Track: w.Key().Name, Preferences: u.s.preferences(want)}
		return m.Append(b, u.s.v)
	})
	if err != nil {
		return false, err
	}
	c.asked()
	defer func() { c.stopGroups(err) }()
	u.s.cfg.Counters.Ingress.SubscriptionsOpened.Add(1)
	defer u.s.cfg.Counters.Ingress.SubscriptionsClosed.Add(1)
	defer u.s.pulled.join(u.broadcast(w.Key()), &u.s.cfg.Counters.Ingress)()

	answers := make(chan error, 1)
	u.s.wg.Go(func() { answers <- c.readAnswers() })
	defer c.stream.Stop(StreamCancelled)
	for {
		next, changed := w.Demand()
		if next.Subscribers == 0 {
			c.stream.Close()
			return false, nil
		}
		if err := c.tell(want, next); err != nil {
			return false, err
		}
		want = next
		select {
		case <-changed:
		case err := <-answers: // it ends with the session, too
			return true, c.finish(ctx, err)
		}
	}
}

// tell sends the wishes where they changed (§8.2).
func (c *subscribed) tell(old, next moq.Demand) error {
	before, after := c.s.preferences(old), c.s.preferences(next)
	if before == after || !c.s.v.HasSubscribeUpdate() {
		return nil
	}
	return c.s.send(c.stream, ClassSubscribe, lite.SubscribeUpdate{Preferences: after}.Append(nil, c.s.v))
}

// preferences says a demand in the fields of the wire (§14.4).
func (s *Session) preferences(d moq.Demand) lite.Preferences {
	p := lite.Preferences{Priority: d.Priority, MaxAge: d.MaxAge, GroupEnd: lite.Optional{V: d.End.V, OK: d.End.Set}}
	if d.Start.Kind == moq.StartAt {
		p.GroupStart = lite.Some(d.Start.Group)
	}
	return p
}

// readAnswers follows the subscribe stream until the peer ends it. nil: FIN.
func (c *subscribed) readAnswers() error {
	r := bufio.NewReaderSize(countReads{c.stream, c.s, ClassSubscribe}, 128)
	ended := c.s.v < lite.V05
	var buf []byte
	for {
		kind, body, err := lite.ReadSubscribeAnswer(r, c.s.v, buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("await acceptance: %w", moq.ErrTimeout)
		}
		c.accepted()
		if err == io.EOF {
			if !ended {
				return fmt.Errorf("subscription ended without an end: %w", moq.ErrMalformed)
			}
			return nil
		}
		if err != nil {
			return err
		}
		buf = body
		switch kind {
		case lite.AnswerStart:
			m, err := lite.DecodeSubscribeStart(body, c.s.v)
			if err != nil {
				return err
			}
			c.mu.Lock()
			c.started, c.from = true, m.Group
			c.mu.Unlock()
		case lite.AnswerEnd:
			m, err := lite.DecodeSubscribeEnd(body, c.s.v)
			if err != nil {
				return err
			}
			ended = true
			c.mu.Lock()
			c.end, c.counted = m.Group, m.Streams
			c.mu.Unlock()
			if err := c.w.SetEnd(m.Group); err != nil && c.s.v >= lite.V06 {
				return fmt.Errorf("end at group %d, below one already seen: %w", m.Group, err)
			}
		case lite.AnswerDrop:
			m, err := lite.DecodeSubscribeDrop(body, c.s.v)
			if err != nil {
				return err
			}
			if m.Last >= m.First {
				c.arrived(m.Last - m.First + 1)
			}
		}
	}
}

// asked says that the request is out. Up to 04 the peer has to accept it (§8.3);
// later versions have asked for the track's info before.
func (c *subscribed) asked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.request = c.stream
	if c.s.v < lite.V05 && !c.taken {
		c.request.SetReadDeadline(time.Now().Add(c.s.cfg.Limits.Request))
	}
}

// accepted says that the peer serves the subscription, for however long it is silent.
func (c *subscribed) accepted() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.taken && c.request != nil {
		c.request.SetReadDeadline(time.Time{})
	}
	c.taken = true
}

// expectedLocked is how many groups there are in all (§8.4): on 07 that is said,
// before that it follows from the lowest known. Without a start none was served.
func (c *subscribed) expectedLocked() uint64 {
	switch {
	case c.s.v >= lite.V07WIP:
		return c.counted
	case !c.started:
		return 0
	}
	return c.end - min(c.from, c.lowest, c.end)
}

// arrivedAs counts a group that has come.
func (c *subscribed) arrivedAs(sequence uint64) {
	c.mu.Lock()
	c.lowest = min(c.lowest, sequence)
	c.mu.Unlock()
	c.arrived(1)
}

// arrived counts n groups more as accounted for.
func (c *subscribed) arrived(n uint64) {
	c.mu.Lock()
	c.seen += min(n, math.MaxUint64-c.seen)
	c.mu.Unlock()
	c.signal()
}

func (c *subscribed) signal() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// finish ends the track after the peer has.
func (c *subscribed) finish(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	defer c.stream.Close() // tells the peer that everything has arrived
	if err := c.settle(ctx); err != nil {
		return err
	}
	c.w.Finish()
	return nil
}

// settle waits for groups whose streams are still on their way. They get the
// track's maximum age to begin, at least a second; those that have begun are read to
// their end (§8.4).
func (c *subscribed) settle(ctx context.Context) error {
	info, err := c.w.Track().Info(ctx)
	if err != nil {
		return err
	}
	late := time.NewTimer(max(info.MaxAge, time.Second))
	defer late.Stop()
	wait := c.straggle()
	quiet := time.NewTimer(wait)
	defer quiet.Stop()
	for wait > 0 || c.expecting() {
		select {
		case <-c.changed:
			wait = c.straggle()
			quiet.Reset(wait)
		case <-quiet.C:
			wait = 0
		case <-late.C:
			return c.readOut(ctx)
		case <-ctx.Done():
			return c.cutOff()
		}
	}
	return nil
}

// readOut waits for the groups that have begun.
func (c *subscribed) readOut(ctx context.Context) error {
	for c.reading() {
		select {
		case <-c.changed:
		case <-ctx.Done():
			return c.cutOff()
		}
	}
	return nil
}

// cutOff says whether the end of the session has cost the track a group that we
// know of. Streams under way end with it.
func (c *subscribed) cutOff() error {
	for c.reading() {
		<-c.changed
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut || c.seen < c.expectedLocked() {
		return moq.ErrClosed
	}
	return nil
}

// Bounds on how long nothing must come after the FIN of a subscription for there to
// be no more groups that nothing has told us of.
const (
	leastStraggle = 100 * time.Millisecond
	mostStraggle  = time.Second
)

// straggle is how long to listen for groups that the peer's FIN has overtaken and
// that its answers do not count: a few round trips. Up to 04 that may be any group. From 05 to 06
// those below the start: it names the first that was sent, and a lower one that
// we asked for may be behind it. On 07 all are counted.
func (c *subscribed) straggle() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.s.v < lite.V05:
	case c.s.v >= lite.V07WIP || !c.started || min(c.from, c.lowest) <= c.floor:
		return 0
	}
	return min(max(4*c.s.conn.Stats().RTT, leastStraggle), mostStraggle)
}

// floor is the lowest sequence that a demand asks the peer for: none below the
// live edge up to 06-wip, unless it names a group.
func (s *Session) floor(d moq.Demand) uint64 {
	switch {
	case d.Start.Kind == moq.StartAt:
		return d.Start.Group
	case s.v >= lite.V06:
		return 0
	}
	return math.MaxUint64
}

// expecting says whether group streams are open or announced and missing.
func (c *subscribed) expecting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.streams) > 0 || c.seen < c.expectedLocked()
}

// reading says whether group streams are open.
func (c *subscribed) reading() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.streams) > 0
}

// register gives c the next subscribe id.
func (s *Session) register(c *subscribed) uint64 {
	if s.v.HasDatagrams() {
		s.grams.Do(func() { s.goRun(s.receiveDatagrams) })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.nextID
	s.nextID++
	s.subscribed[id] = c
	return id
}

func (s *Session) unregister(c *subscribed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.subscribed, c.id)
}

// upstream finds the subscription that a group or datagram belongs to.
func (s *Session) upstream(id uint64) *subscribed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.subscribed[id]
}

// group begins a group that has arrived.
func (c *subscribed) group(h lite.GroupHeader, stream ReceiveStream) (*moq.GroupWriter, error) {
	defer c.arrivedAs(h.Sequence)
	c.accepted()
	w, err := c.w.GroupAt(h.Sequence, int(min(h.FrameStart, moq.MaxFrames)))
	if err != nil {
		if errors.Is(err, moq.ErrMalformed) && c.s.v >= lite.V06 {
			c.stopAnswers()
		}
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		w.Abort(moq.ErrCancelled)
		return nil, moq.ErrCancelled
	}
	c.streams[h.Sequence] = stream
	w.Arrives(time.Now())
	return w, nil
}

// stopAnswers makes readAnswers fail the track.
func (c *subscribed) stopAnswers() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.request != nil {
		c.request.Stop(StreamMalformed)
	}
}

// groupDone takes note of a group stream's end; cut: it broke off with the session.
func (c *subscribed) groupDone(sequence uint64, cut bool) {
	c.mu.Lock()
	delete(c.streams, sequence)
	c.cut = c.cut || cut
	c.mu.Unlock()
	c.signal()
}

// stopGroups asks the peer to stop the groups under way, because of err where that is
// not nil. Those of a session that is over end with it: stopped, they would look as
// if we had given them up, and not wait for another route.
func (c *subscribed) stopGroups(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if overWith(err) {
		return
	}
	for _, stream := range c.streams {
		stream.Stop(StreamCancelled)
	}
}

// receiveDatagrams hands the peer's datagrams to their tracks. What makes no
// sense is dropped (§9.2).
func (s *Session) receiveDatagrams(ctx context.Context) error {
	for {
		b, err := s.conn.ReceiveDatagram(ctx)
		if err != nil {
			return nil // the connection is over, or takes none
		}
		m, err := lite.DecodeDatagram(b, s.v)
		if err != nil {
			continue
		}
		if c := s.upstream(m.Subscribe); c != nil {
			s.cfg.Counters.Ingress.Datagrams.Add(1)
			s.cfg.Counters.Ingress.Bytes.Add(uint64(len(m.Payload)))
			c.arrivedAs(m.Sequence)
			c.w.WriteDatagram(moq.Datagram{Sequence: m.Sequence, Timestamp: m.Timestamp, Payload: m.Payload})
		}
	}
}
