package cluster

import (
	"time"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// price is what we pull for over this link, as far as we say it ourselves.
func (l *link) price() lite.Optional {
	switch {
	case l.entry.Cost.Set:
		return lite.Some(l.entry.Cost.N)
	case l.entry.Cost.Auto && l.measured > 0:
		return lite.Some(l.measured)
	}
	return lite.Optional{}
}

// declared is what the peer is told: a measured price as of now, since it cannot be told again.
func (l *link) declared(e peers.Entry) lite.Optional {
	if p := e.Declared(); p.Set {
		return lite.Some(p.N)
	}
	if e.Cost.Auto {
		return l.price()
	}
	return lite.Optional{}
}

// reprice puts the price in force on the live session.
func (l *link) reprice() {
	l.measure.Stop()
	if l.live == nil {
		return
	}
	if l.entry.Cost.Auto {
		l.takeSample()
	}
	l.setPrice()
}

// setPrice tells the session, unless it has this price.
func (l *link) setPrice() {
	price := l.price()
	if price == l.live.request.LinkCost {
		return
	}
	l.live.request.LinkCost = price
	l.live.session.SetLinkCost(price)
	l.c.cfg.Counters.Reprices.Add(1)
}

// takeSample measures the live session for a price that follows what is measured.
func (l *link) takeSample() {
	if l.live == nil || !l.entry.Cost.Auto {
		return
	}
	l.measure.Reset(peers.AutoEvery)
	s := l.live.session.Stats()
	price, changed := l.live.auto.Take(time.Now(), peers.Sample{RTT: s.RTT, Sent: s.PacketsSent, Lost: s.PacketsLost})
	if !changed {
		return
	}
	l.measured = price
	l.c.cfg.Log.Info("cluster link measured; cost changed", "peer", string(l.key), "cost", price)
	l.setPrice()
}
