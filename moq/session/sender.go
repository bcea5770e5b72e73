package session

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// retryAfter is how soon the sender looks again for credit that the transport
// does not announce.
const retryAfter = 20 * time.Millisecond

// sender is the one goroutine that feeds all of a session's subscriptions. What
// it owns it touches without a lock. It never waits for the peer: what cannot be
// queued at once is left to a goroutine of that one stream, or for later.
type sender struct {
	s     *Session
	wakec chan struct{} // has a token while dirty is not empty

	mu    sync.Mutex // guards dirty and the queued flags
	dirty []*served

	// Owned by run.
	all     []*served // running, by falling priority
	retry   bool      // somebody waits for credit
	backlog backlog
	share   share
	scratch []byte
	begun   uint64 // groups
}

func newSender(s *Session) *sender {
	d := &sender{s: s, wakec: make(chan struct{}, 1)}
	d.backlog.conn, d.backlog.limit = s.conn, int64(s.cfg.Limits.QueueBytes)
	d.share.rate = s.cfg.Limits.Bandwidth / 8
	return d
}

// mark says that v may have something to send. It neither blocks nor calls back.
func (d *sender) mark(v *served) {
	d.mu.Lock()
	if v.queued {
		d.mu.Unlock()
		return
	}
	v.queued = true
	d.dirty = append(d.dirty, v)
	d.mu.Unlock()
	select {
	case d.wakec <- struct{}{}:
	default:
	}
}

// take empties the dirty list into list.
func (d *sender) take(list []*served) []*served {
	d.mu.Lock()
	defer d.mu.Unlock()
	list = append(list[:0], d.dirty...)
	clear(d.dirty)
	d.dirty = d.dirty[:0]
	for _, v := range list {
		v.queued = false
	}
	return list
}

func (d *sender) run(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	defer d.stop()
	var list []*served
	for {
		select {
		case <-d.wakec:
			list = d.take(list)
		case <-timer.C:
			list = append(list[:0], d.all...)
		case <-ctx.Done():
			return nil
		}
		d.retry = false
		for _, v := range list {
			d.pump(v)
		}
		if d.retry {
			timer.Reset(retryAfter)
		}
	}
}

// stop lets go of everything when the session is over.
func (d *sender) stop() {
	for _, v := range d.take(nil) {
		d.admit(v)
	}
	for _, v := range d.all {
		v.drop(StreamSessionClosed)
		v.sub.Close()
		close(v.donec)
	}
	d.all = nil
}

// pump sends what v has, and sees v off when it is over.
func (d *sender) pump(v *served) {
	if v.over {
		return
	}
	d.admit(v)
	if update := v.update.Swap(nil); update != nil {
		v.opts, v.priority = update.opts, update.opts.Priority
		v.sub.Update(v.opts)
		d.rank()
	}
	if v.serve(d) {
		d.remove(v)
	}
}

// admit makes a new subscription one of ours.
func (d *sender) admit(v *served) {
	if v.admitted {
		return
	}
	v.admitted = true
	d.all = append(d.all, v)
	d.rank()
}

func (d *sender) remove(v *served) {
	v.over = true
	v.sub.Close()
	d.all = slices.DeleteFunc(d.all, func(o *served) bool { return o == v })
	d.rank()
	close(v.donec)
}

// rank maps the priorities of the running subscriptions onto the few urgencies
// that transports have: the highest goes at groupUrgency, each lower one behind.
func (d *sender) rank() {
	slices.SortStableFunc(d.all, func(a, b *served) int { return int(b.priority) - int(a.priority) })
	urgency := groupUrgency
	for i, v := range d.all {
		if i > 0 && v.priority != d.all[i-1].priority && urgency < lowestUrgency-1 {
			urgency++
		}
		v.setUrgency(urgency)
	}
}

// backlogStep is how much may be put in before the transport is asked again.
const backlogStep = 64 << 10

// backlog estimates what is queued in the transport and not sent: what we put in
// less what it sent since. Overhead and repeats make it drain a little too fast,
// which matters only for peers that keep up.
type backlog struct {
	conn  Conn
	limit int64
	bytes atomic.Int64
	sent  uint64 // as of the last look
}

func (b *backlog) add(n int) { b.bytes.Add(int64(n)) }

// drain accounts for what was sent since the last look.
func (b *backlog) drain() {
	sent := b.conn.Stats().BytesSent
	if b.bytes.Add(-int64(sent-b.sent)) < 0 {
		b.bytes.Store(0)
	}
	b.sent = sent
}

// full says whether the peer is so far behind that nothing new should be queued.
func (b *backlog) full() bool {
	if b.bytes.Load() <= min(b.limit, backlogStep) {
		return false
	}
	b.drain()
	return b.bytes.Load() > b.limit
}

// Queued estimates the bytes that wait in the transport for the peer.
func (s *Session) Queued() int64 {
	return max(0, min(s.sender.backlog.bytes.Load(), s.sender.backlog.limit))
}

// share holds a peer to a rate: bytes run up a debt that time pays off.
type share struct {
	rate int64 // bytes per second; 0 = no bound
	debt atomic.Int64
	paid time.Time // when debt was last paid off
}

func (h *share) add(n int) {
	if h.rate > 0 {
		h.debt.Add(int64(n))
	}
}

// spent says whether the peer has had its share for now. Only where there is a rate.
// What is left over counts for as long as the sender may have overslept.
func (h *share) spent(now time.Time) bool {
	owed := h.debt.Add(-int64(now.Sub(h.paid).Seconds() * float64(h.rate)))
	if left := -int64(retryAfter.Seconds() * float64(h.rate)); owed < left {
		h.debt.Store(left)
	}
	h.paid = now
	return owed > 0
}
