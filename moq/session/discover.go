package session

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/moqmesh/moqmesh/cluster/route"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// learnt is one path that the peer has announced. Those that it may not publish
// stay here, so that later messages about them match (§6.3).
type learnt struct {
	suffix string
	path   string    // in our origin
	source *upstream // nil: declined
}

// discovery reads the peer's announcements and keeps our origin in step. One
// goroutine owns it.
type discovery struct {
	s   *Session
	n   *moq.Neighbour
	hop uint64 // the peer's own, as said with ANNOUNCE_OK

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
	d.n = s.join()
	defer func() { d.n.Leave(time.Now()) }()
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
	if s.v.HasSetup() {
		if _, err := s.PeerSetup(ctx); err != nil { // it names the peer and prices the link
			return err
		}
		s.link.heard(s.peer)
	}
	err = d.read(bufio.NewReaderSize(countReads{stream, s, ClassAnnounce}, 1024))
	stream.Reset(StreamCancelled)
	if err == io.EOF { // the clean end of this prefix
		for _, l := range d.bySuffix {
			d.end(l)
		}
	}
	if err == io.EOF || ctx.Err() != nil {
		return nil
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
		d.s.link.change(func(l *route.Link) { l.ID = cmp.Or(ok.Hop, l.ID) })
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
		return d.start(m.Suffix, m.Hops, lite.Cost{})
	case d.s.v >= lite.V05:
		d.use(live, m.Hops, lite.Cost{})
		return nil
	}
	return fmt.Errorf("path %q is already announced", m.Suffix)
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
	l := &learnt{path: wire.JoinPath(d.s.access.Root, suffix), suffix: suffix}
	if d.s.access.Publish(suffix) {
		l.source = &upstream{d.s, suffix}
	}
	d.bySuffix[suffix] = l
	d.s.cfg.Counters.Ingress.AnnouncesStarted.Add(1)
	d.use(l, hops, cost)
	return nil
}

func (d *discovery) end(l *learnt) {
	d.s.cfg.Counters.Ingress.AnnouncesEnded.Add(1)
	if l.source != nil {
		d.n.Withdraw(time.Now(), l.path)
	}
	delete(d.bySuffix, l.suffix)
}

// use tells our origin what the peer now says of l.
func (d *discovery) use(l *learnt, hops []uint64, cost lite.Cost) {
	if l.source == nil {
		return
	}
	if d.s.v >= lite.V05 { // the sender leaves itself out
		hops = append(slices.Clone(hops), d.hop)
	}
	d.n.Announce(time.Now(), l.path, l.source, route.Route{Hops: hops, Warm: cost.Warm, Cold: cost.Cold})
}
