package session

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// served is one SUBSCRIBE of the peer that we answer. But for the fields marked
// otherwise it belongs to the sender's goroutine once marked.
type served struct {
	s      *Session
	id     uint64
	stream SendStream // the subscribe stream, for our answers
	sub    *moq.Subscription

	queued bool                               // guarded by sender.mu
	update atomic.Pointer[subscriptionUpdate] // newest SUBSCRIBE_UPDATE not applied yet
	left   atomic.Bool                        // the peer ended the subscription
	donec  chan struct{}                      // closed when the sender is through with it

	opts     moq.SubscribeOptions // as applied to sub
	admitted bool
	over     bool
	priority uint8
	urgency  int8
	open     []*groupSender   // group streams, oldest first
	waiting  *moq.GroupReader // could not be begun yet
	late     bool             // a group has had to wait, and none was begun since
	skipped  moq.Amount       // as of the last count; valid where late
	answers  []byte           // control messages not written yet
	started  bool             // SUBSCRIBE_START (or OK) is out
	ended    bool             // SUBSCRIBE_END is out
	streams  uint64           // group streams opened
	since    time.Time        // when the subscription began
}

type subscriptionUpdate struct{ opts moq.SubscribeOptions }

// serve sends what can be sent now, and says whether that was all there will be.
func (v *served) serve(d *sender) (over bool) {
	if v.left.Load() {
		v.drop(StreamCancelled)
		v.stream.Close()
		return true
	}
	v.open = v.feed(d)
	for v.beginNext(d) {
	}
	v.sendDatagrams()
	return v.conclude(d)
}

// feed continues the open groups and returns those that stay open.
func (v *served) feed(d *sender) []*groupSender {
	kept := v.open[:0]
	for _, g := range v.open {
		switch {
		case g.push(d): // what can go out at once goes, even if its time is over
		case v.sub.Stale(&g.r):
			v.s.cfg.Counters.reset(g.r.Rest())
			g.stream.Reset(StreamExpired)
		case g.r.Err() != nil: // gone from the track while its stream was stuck
			v.s.cfg.Counters.reset(g.r.Rest())
			g.stream.Reset(streamCode(g.r.Err()))
		default:
			kept = append(kept, g)
		}
	}
	clear(v.open[len(kept):])
	return kept
}

// beginNext begins the next group. false: there is none, or no room for it.
func (v *served) beginNext(d *sender) bool {
	r, ok := v.nextGroup()
	if !ok {
		return false
	}
	if d.backlog.full() || d.share.rate > 0 && d.share.spent(time.Now()) {
		return v.postpone(d, r)
	}
	stream, err := v.s.conn.OpenUniStream()
	if err != nil {
		return v.postpone(d, r)
	}
	v.begin(d, stream, r)
	return true
}

// nextGroup is the group that had to wait, if it is still worth sending, or the
// next one. Only one that has to wait is put on the heap.
func (v *served) nextGroup() (r moq.GroupReader, ok bool) {
	if waiting := v.waiting; waiting != nil {
		v.waiting = nil
		if !v.sub.Stale(waiting) && waiting.Err() == nil {
			return *waiting, true
		}
		v.s.cfg.Counters.skip(waiting.Rest())
	}
	r, ok = v.sub.Next()
	v.countSkipped()
	return r, ok
}

func (v *served) postpone(d *sender, r moq.GroupReader) bool {
	if !v.late {
		v.late, v.skipped = true, v.sub.Skipped()
	}
	v.waiting = &r
	d.retry = true
	return false
}

// countSkipped counts the groups that were passed over while one had to wait.
func (v *served) countSkipped() {
	if v.late {
		n := v.sub.Skipped()
		v.s.cfg.Counters.skip(n.Less(v.skipped))
		v.skipped = n
	}
}

// begin opens a group stream. The newest group goes first: older ones that are
// still open fall behind it, and beyond the bound they are given up.
func (v *served) begin(d *sender, stream SendStream, r moq.GroupReader) {
	v.late = false
	v.announceStart(r.Sequence())
	for len(v.open) >= v.s.cfg.Limits.OpenGroups {
		v.s.cfg.Counters.reset(v.open[0].r.Rest())
		v.open[0].stream.Reset(StreamTooFarBehind)
		v.open = v.open[1:]
	}
	for _, older := range v.open {
		older.demote()
	}
	v.streams++
	v.s.cfg.Counters.Egress.Groups.Add(1)
	g := newGroupSender(v, stream, r)
	if !g.push(d) {
		v.open = append(v.open, g)
	}
	if d.timeNext() {
		v.timeGroup(r.Arrived())
	}
}

// announceStart answers that the subscription is served, once.
func (v *served) announceStart(sequence uint64) {
	if v.started {
		return
	}
	v.started = true
	if v.s.v >= lite.V05 {
		v.answers = lite.SubscribeStart{Group: sequence}.Append(v.answers, v.s.v)
	}
}

func (v *served) sendDatagrams() {
	if !v.s.v.HasDatagrams() {
		return
	}
	for {
		g, ok := v.sub.NextDatagram()
		if !ok {
			return
		}
		b := lite.Datagram{Subscribe: v.id, Sequence: g.Sequence, Timestamp: g.Timestamp, Payload: g.Payload}.Append(nil, v.s.v)
		if v.s.conn.SendDatagram(b) != nil {
			v.s.cfg.Counters.DatagramsLost.Add(1)
			continue
		}
		v.s.cfg.Counters.Egress.Datagrams.Add(1)
		v.s.cfg.Counters.Egress.Bytes.Add(uint64(len(g.Payload)))
	}
}

// conclude says the end of the track, and ends the subscription after its last group.
func (v *served) conclude(d *sender) (over bool) {
	end, known, complete, err := v.sub.End()
	if err != nil {
		v.drop(streamCode(err))
		v.stream.Reset(streamCode(err))
		return true
	}
	drained := complete && v.waiting == nil
	if known && !v.ended && v.s.v >= lite.V05 && (drained || v.s.v < lite.V07WIP) {
		v.ended = true
		v.answers = lite.SubscribeEnd{Group: end, Streams: v.streams}.Append(v.answers, v.s.v)
	}
	if !v.sendAnswers(d) || !drained || len(v.open) > 0 {
		return false
	}
	v.stream.Close()
	return true
}

// sendAnswers writes pending control messages; false while the peer has no room.
func (v *served) sendAnswers(d *sender) bool {
	if len(v.answers) == 0 {
		return true
	}
	err := v.stream.TryWrite(v.answers)
	if errors.Is(err, ErrNoCredit) {
		d.retry = true
		return false
	}
	v.s.cfg.Counters.Control.Sent[ClassSubscribe].Add(uint64(len(v.answers)))
	v.answers = nil
	return true
}

// lastFrame is the index of the last frame that the peer wants of a group.
func (v *served) lastFrame(sequence uint64) int {
	if v.opts.EndFrame.Set && v.opts.End.Set && sequence == v.opts.End.V {
		return int(min(v.opts.EndFrame.V, moq.MaxFrames))
	}
	return moq.MaxFrames
}

// drop resets the groups under way.
func (v *served) drop(code StreamCode) {
	for _, g := range v.open {
		g.stream.Reset(code)
	}
	v.open, v.waiting = nil, nil
}

func (v *served) setUrgency(urgency int8) {
	if v.urgency == urgency {
		return
	}
	v.urgency = urgency
	for i, g := range v.open {
		g.setUrgency(min(urgency+int8(len(v.open)-1-i), lowestUrgency))
	}
}
