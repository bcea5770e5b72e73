package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// learnt is one path that the peer has announced. Those we do not use stay here,
// so that later messages about them match (§6.3).
type learnt struct {
	suffix   string
	hops     []uint64 // as on the wire
	cost     lite.Cost
	upstream *upstream         // nil until it was of use
	handle   *moq.Announcement // nil: declined
}

// discovery reads the peer's announcements and keeps our origin in step.
type discovery struct {
	s   *Session
	hop uint64 // the peer's own, as said with ANNOUNCE_OK

	mu       sync.Mutex // held over each message, and to re-price
	bySuffix map[string]*learnt
	byID     map[uint64]*learnt
	next     uint64 // id of the next START
	unzip    *lite.AnnounceExpander
}

// discover asks for everything the peer may publish, and reads until it ends.
func (s *Session) discover(ctx context.Context) error {
	d := &discovery{s: s, bySuffix: make(map[string]*learnt), byID: make(map[uint64]*learnt)}
	if s.v.HasCompression() {
		d.unzip = lite.NewAnnounceExpander(s.v)
	}
	s.mu.Lock()
	s.discovery = d
	s.mu.Unlock()
	defer d.forget()
	stream, err := s.conn.OpenStream(ctx)
	if err != nil {
		return fmt.Errorf("open announce stream: %w", err)
	}
	defer context.AfterFunc(ctx, func() { stream.Stop(StreamCancelled) })()
	stream.SetPriority(controlUrgency)
	ask := lite.AnnounceRequest{ExcludeHop: s.access.Origin.ID(), Hidden: true}
	b := ask.Append(lite.StreamAnnounce.Append(nil, s.v), s.v)
	if err := s.send(stream, ClassAnnounce, b); err != nil {
		return fmt.Errorf("request announcements: %w", err)
	}
	if s.v.HasCost() && !s.cfg.LinkCost.OK {
		if _, err := s.PeerSetup(ctx); err != nil { // it prices the link
			return err
		}
	}
	err = d.read(bufio.NewReaderSize(countReads{stream, s, ClassAnnounce}, 1024))
	stream.Reset(StreamCancelled)
	if err == io.EOF || ctx.Err() != nil {
		return nil // the clean end of this prefix
	}
	var reset *StreamError
	if errors.As(err, &reset) && s.cfg.Server {
		return nil // a client that serves no announcements publishes nothing
	}
	if reset != nil && endsSoon(ctx) {
		return nil
	}
	return violated(fmt.Errorf("announcements: %w", err))
}

// endsSoon waits for the close of a session whose streams are already reset: on
// WebTransport it may come behind them, and it has the reason.
func endsSoon(ctx context.Context) bool {
	timer := time.NewTimer(closeBehindResets)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return true
	case <-timer.C:
		return false
	}
}

// closeBehindResets is how far a close may lag behind the resets that come with it.
const closeBehindResets = 500 * time.Millisecond

// countReads counts control bytes as they are read.
type countReads struct {
	io.Reader
	s     *Session
	class Class
}

func (c countReads) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.s.cfg.Counters.Control.Received[c.class].Add(uint64(n))
	return n, err
}

// forget drops all routes when the stream or the session is over. Their
// broadcasts end with the session: see upstream.
func (d *discovery) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range d.bySuffix {
		d.withdraw(l)
	}
}

// reprice applies what changed the price of every route of the peer.
func (d *discovery) reprice() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range d.bySuffix {
		if l.handle != nil {
			d.use(l, l.hops, l.cost)
		}
	}
}

func (d *discovery) read(r *bufio.Reader) error {
	if d.s.v.HasAnnounceOK() {
		body, err := lite.ReadBody(r, d.s.v, nil)
		if err != nil {
			return err
		}
		ok, err := lite.DecodeAnnounceOK(body, d.s.v)
		if err != nil {
			return err
		}
		d.hop = ok.Hop
	}
	if d.s.v.HasAnnounceInit() {
		if err := d.readInit(r); err != nil {
			return err
		}
	}
	var buf []byte
	for {
		var err error
		if buf, err = d.readOne(r, buf); err != nil {
			return err
		}
	}
}

func (d *discovery) readInit(r *bufio.Reader) error {
	body, err := wire.ReadMessage(r, d.s.v.Encoding(), lite.MaxMessage, nil)
	if err != nil {
		return err
	}
	init, err := lite.DecodeAnnounceInit(body, d.s.v)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, suffix := range init.Suffixes {
		if err := d.start(suffix, nil, lite.Cost{}); err != nil {
			return err
		}
	}
	return nil
}

func (d *discovery) readOne(r *bufio.Reader, buf []byte) ([]byte, error) {
	if d.s.v.HasAnnounceIDs() {
		kind, body, err := lite.ReadAnnounce(r, d.s.v, buf)
		if err != nil {
			return buf, err
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		return body, d.typed(kind, body)
	}
	body, err := lite.ReadBody(r, d.s.v, buf)
	if err != nil {
		return buf, err
	}
	m, err := lite.DecodeAnnounce(body, d.s.v)
	if err != nil {
		return body, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return body, d.untyped(m)
}

// untyped handles the announcements of 01 to 05 (§6.3).
func (d *discovery) untyped(m lite.Announce) error {
	live := d.bySuffix[m.Suffix]
	switch {
	case !m.Active && live == nil:
		return nil
	case !m.Active:
		d.end(live)
		return nil
	case live == nil:
		return d.start(m.Suffix, m.Hops, d.unpriced(m.Hops))
	case d.s.v >= lite.V05:
		d.use(live, m.Hops, d.unpriced(m.Hops))
		return nil
	}
	return fmt.Errorf("path %q is already announced", m.Suffix)
}

// unpriced is the cost of a route whose wire carries none: its length, so that
// it competes fairly with priced ones.
func (d *discovery) unpriced(hops []uint64) lite.Cost {
	n := uint64(len(hops))
	if !d.s.v.HasSetup() && n > 0 {
		n-- // the sender's own hop is on the list already
	}
	return lite.Cost{Warm: n, Cold: n}
}

// typed handles those of 06-wip and later (§6.4).
func (d *discovery) typed(kind lite.AnnounceType, body []byte) error {
	switch kind {
	case lite.TypeAnnounceStart:
		m, err := d.decodeStart(body)
		if err != nil {
			return err
		}
		if err := d.start(m.Suffix, m.Hops, m.Cost); err != nil {
			return err
		}
		d.byID[d.next] = d.bySuffix[m.Suffix]
		d.next++
	case lite.TypeAnnounceUpdate:
		m, err := d.decodeUpdate(body)
		if err != nil {
			return err
		}
		l := d.byID[m.ID]
		if l == nil {
			return fmt.Errorf("update of unknown announce id %d", m.ID)
		}
		d.use(l, m.Hops, m.Cost)
	case lite.TypeAnnounceEnd:
		m, err := d.decodeEnd(body)
		if err != nil {
			return err
		}
		l := d.byID[m.ID]
		if l == nil {
			return fmt.Errorf("end of unknown announce id %d", m.ID)
		}
		delete(d.byID, m.ID)
		d.end(l)
	}
	return nil
}

func (d *discovery) decodeStart(body []byte) (lite.AnnounceStart, error) {
	if d.unzip != nil {
		return d.unzip.Start(body)
	}
	return lite.DecodeAnnounceStart(body, d.s.v)
}

func (d *discovery) decodeUpdate(body []byte) (lite.AnnounceUpdate, error) {
	if d.unzip != nil {
		return d.unzip.Update(body)
	}
	return lite.DecodeAnnounceUpdate(body, d.s.v)
}

func (d *discovery) decodeEnd(body []byte) (lite.AnnounceEnd, error) {
	if d.unzip != nil {
		return d.unzip.End(body)
	}
	return lite.DecodeAnnounceEnd(body, d.s.v)
}

func (d *discovery) start(suffix string, hops []uint64, cost lite.Cost) error {
	if d.bySuffix[suffix] != nil {
		return fmt.Errorf("path %q is already announced", suffix)
	}
	if len(d.bySuffix) >= d.s.cfg.Limits.Announcements {
		d.s.cfg.Counters.Limited.Add(1)
		return fmt.Errorf("more than %d announcements", d.s.cfg.Limits.Announcements)
	}
	l := &learnt{suffix: suffix}
	d.bySuffix[suffix] = l
	d.s.cfg.Counters.Ingress.AnnouncesStarted.Add(1)
	d.use(l, hops, cost)
	return nil
}

func (d *discovery) end(l *learnt) {
	d.s.cfg.Counters.Ingress.AnnouncesEnded.Add(1)
	d.withdraw(l)
	if l.upstream != nil {
		l.upstream.retire()
	}
	delete(d.bySuffix, l.suffix)
}

func (d *discovery) withdraw(l *learnt) {
	if l.handle != nil {
		l.handle.Withdraw()
		l.handle = nil
	}
}

// use makes our origin hold what l now says, or nothing where that is of no use.
func (d *discovery) use(l *learnt, hops []uint64, cost lite.Cost) {
	l.hops, l.cost = slices.Clone(hops), cost
	path := wire.JoinPath(d.s.access.Root, l.suffix)
	route, ok := d.route(l)
	switch {
	case !ok || !d.s.access.Publish(l.suffix):
		d.withdraw(l)
	case l.handle != nil:
		l.handle.Update(route)
	default:
		if l.upstream == nil {
			l.upstream = d.s.newUpstream(l.suffix)
		}
		l.handle = d.s.access.Origin.Announce(path, l.upstream.b, route)
	}
}

// route turns an announcement into a route, or refuses it (§15.1).
func (d *discovery) route(l *learnt) (r moq.Route, ok bool) {
	hops := l.hops
	own := d.s.access.Origin.ID()
	if d.s.v >= lite.V05 {
		if d.hop != 0 && slices.Contains(hops, d.hop) || len(hops) >= moq.MaxHops {
			return r, false
		}
		hops = append(slices.Clone(hops), d.hop)
	}
	if own != 0 && slices.Contains(hops, own) {
		return r, false
	}
	if len(hops) == 0 {
		hops = []uint64{0}
	}
	if hops[0] == 0 {
		hops = append([]uint64{d.s.stamp}, hops...)
	}
	if len(hops) > d.s.cfg.Limits.MaxHops {
		return r, false
	}
	r = moq.Route{Hops: hops, Via: d.hop, Peer: d.s.access.Peer}
	if r.Via == 0 {
		r.Via = d.s.cfg.AssignedID
	}
	price := d.s.linkPrice()
	r.Warm, r.Cold = addCost(l.cost.Warm, price), addCost(l.cost.Cold, price)
	if d.s.goneAway.Load() {
		r.Warm, r.Cold = moq.MaxCost, moq.MaxCost
	}
	return r, true
}

func addCost(a, b uint64) uint64 { return min(a+min(b, moq.MaxCost), moq.MaxCost) }

// linkPrice is what pulling over this session costs: our own price, else the
// peer's declaration, else 1.
func (s *Session) linkPrice() uint64 {
	if s.cfg.LinkCost.OK {
		return s.cfg.LinkCost.V
	}
	select {
	case <-s.setupc:
		if s.v.HasCost() && s.peer.Cost.OK {
			return s.peer.Cost.V
		}
	default:
	}
	return 1
}
