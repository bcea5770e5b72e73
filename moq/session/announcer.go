package session

import (
	"context"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// announcer tells the peer, on one announce stream, what is below one prefix (§6.5).
type announcer struct {
	s    *Session
	q    *request
	w    *moq.Watcher
	ids  map[string]uint64 // announce ids of live suffixes; 06-wip and later
	next uint64            // id of the next START
	zip  *lite.AnnounceCompressor
}

// serveAnnounce answers ANNOUNCE_REQUEST for as long as the peer listens.
func (s *Session) serveAnnounce(ctx context.Context, q *request) error {
	m, err := lite.DecodeAnnounceRequest(q.body, s.v)
	if err != nil {
		s.refuse(q, err)
		return nil
	}
	if !s.beginWatching() {
		s.limit(q)
		return nil
	}
	defer s.endWatching()
	ctx, cancel := s.untilClosed(ctx, q)
	defer cancel()
	r, err := s.reader(ctx, m.ExcludeHop)
	if err != nil {
		q.reject(err)
		return nil
	}
	r.Hidden = r.Hidden || m.Hidden
	if s.access.NoSubscribe {
		r.Allow = func(string) bool { return false }
	}
	a := &announcer{s: s, q: q, ids: make(map[string]uint64)}
	a.w = s.access.Origin.Watch(wire.JoinPath(s.access.Root, m.Prefix), r)
	defer a.w.Close()
	if s.v.HasCompression() {
		a.zip = lite.NewAnnounceCompressor(s.v)
	}
	if err := a.run(ctx); err != nil {
		q.Reset(StreamCancelled)
	}
	return nil
}

func (a *announcer) run(ctx context.Context) error {
	b := a.greet()
	for {
		for ev, ok := a.w.Next(); ok; ev, ok = a.w.Next() {
			if b = a.append(b, ev); len(b) > 16<<10 {
				break
			}
		}
		if len(b) > 0 {
			if err := a.s.send(a.q, ClassAnnounce, b); err != nil {
				return err
			}
			b = b[:0]
			continue
		}
		select {
		case <-a.w.Changed():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// greet is what comes before the first announcement.
func (a *announcer) greet() []byte {
	switch {
	case a.s.v.HasAnnounceOK():
		ok := lite.AnnounceOK{Hop: a.s.access.Origin.ID(), Active: uint64(a.w.Pending())}
		return ok.Append(nil, a.s.v)
	case a.s.v.HasAnnounceInit():
		var init lite.AnnounceInit
		for ev, ok := a.w.Next(); ok; ev, ok = a.w.Next() {
			init.Suffixes = append(init.Suffixes, ev.Suffix)
			a.count(ev.Change)
		}
		return init.Append(nil, a.s.v)
	}
	return nil
}

func (a *announcer) append(b []byte, ev moq.Event) []byte {
	a.count(ev.Change)
	if a.s.v.HasAnnounceIDs() {
		return a.appendTyped(b, ev)
	}
	live := lite.Announce{Active: true, Suffix: ev.Suffix, Hops: ev.Route.Hops}
	if !a.s.v.HasSetup() { // the sender adds itself
		live.Hops = append(live.Hops[:len(live.Hops):len(live.Hops)], a.s.access.Origin.ID())
	}
	ended := lite.Announce{Suffix: ev.Suffix}
	switch ev.Change {
	case moq.Started:
		return live.Append(b, a.s.v)
	case moq.Updated:
		if a.s.v < lite.V05 || !ev.Rerouted { // no way to say it
			return b
		}
		return live.Append(b, a.s.v)
	case moq.Replaced:
		return live.Append(ended.Append(b, a.s.v), a.s.v)
	}
	return ended.Append(b, a.s.v)
}

func (a *announcer) appendTyped(b []byte, ev moq.Event) []byte {
	id := a.ids[ev.Suffix]
	cost := lite.Cost{Warm: ev.Route.Warm, Cold: ev.Route.Cold}
	switch ev.Change {
	case moq.Updated:
		return a.appendUpdate(b, lite.AnnounceUpdate{ID: id, Hops: ev.Route.Hops, Cost: cost})
	case moq.Ended, moq.Replaced:
		delete(a.ids, ev.Suffix)
		b = a.appendEnd(b, lite.AnnounceEnd{ID: id})
	}
	if ev.Change == moq.Ended {
		return b
	}
	a.ids[ev.Suffix] = a.next
	a.next++
	return a.appendStart(b, lite.AnnounceStart{Suffix: ev.Suffix, Hops: ev.Route.Hops, Cost: cost})
}

func (a *announcer) appendStart(b []byte, m lite.AnnounceStart) []byte {
	if a.zip != nil {
		return a.zip.AppendStart(b, m)
	}
	return m.Append(b, a.s.v)
}

func (a *announcer) appendUpdate(b []byte, m lite.AnnounceUpdate) []byte {
	if a.zip != nil {
		return a.zip.AppendUpdate(b, m)
	}
	return m.Append(b, a.s.v)
}

func (a *announcer) appendEnd(b []byte, m lite.AnnounceEnd) []byte {
	if a.zip != nil {
		return a.zip.AppendEnd(b, m)
	}
	return m.Append(b, a.s.v)
}

func (a *announcer) count(c moq.Change) {
	egress := &a.s.cfg.Counters.Egress
	if c == moq.Ended || c == moq.Replaced {
		egress.AnnouncesEnded.Add(1)
	}
	if c == moq.Started || c == moq.Replaced {
		egress.AnnouncesStarted.Add(1)
	}
}
