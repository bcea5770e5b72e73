package cluster

import (
	"errors"
	"strings"
	"time"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/moq"
)

// advertise announces this relay and begins to watch the others.
func (c *Cluster) advertise() (a adverts) {
	if !c.cfg.Mesh {
		return a
	}
	path, err := peers.AdvertPath(c.cfg.Node)
	if err != nil { // check has read the same node
		panic("cluster: node that was checked: " + err.Error())
	}
	a.seen = c.cfg.Origin.Watch(peers.Prefix, moq.Reader{Hidden: true})
	a.own = c.cfg.Origin.Publish(path, moq.NewBroadcast(c.cfg.Origin.Cache(), nil))
	path, _, _ = strings.Cut(path, "?") // no query strings in logs, not even public ones
	c.cfg.Log.Info("advertising cluster node URL", "node", string(c.own), "path", path)
	return a
}

// takeAdverts reads what has changed.
func (c *Cluster) takeAdverts(a adverts) {
	for {
		ev, ok := a.seen.Next()
		if !ok {
			return
		}
		c.takeAdvert(ev, time.Now())
	}
}

// takeAdvert follows one change of one advert. It comes from a peer: see Restrict.
func (c *Cluster) takeAdvert(ev moq.Event, now time.Time) {
	switch {
	case ev.Change != moq.Ended && ev.Route.Peer.IsLocal(): // our own
	case ev.Change == moq.Ended:
		c.mu.Lock()
		c.adverts.Withdraw(now, ev.Path)
		c.mu.Unlock()
	default:
		c.mu.Lock()
		e, err := c.adverts.Announce(ev.Path, peers.Route{Hops: ev.Route.Hops, Cost: ev.Route.Warm})
		twin, ok := c.adverts.Twin(e.Key)
		c.mu.Unlock()
		if err != nil {
			c.refuseAdvert(err, now)
		} else if ok {
			c.tellTwins(e.Key, twin, ev.Route.Hops[0])
		}
	}
}

func (c *Cluster) refuseAdvert(err error, now time.Time) {
	if errors.Is(err, peers.ErrFull) {
		c.cfg.Counters.AdvertsFull.Add(1)
		if n, ok := c.fullAdverts.say(now); ok {
			c.cfg.Log.Error("too many cluster advertisements; ignoring further ones", "repeats", n)
		}
		return
	}
	c.cfg.Counters.AdvertsInvalid.Add(1)
	if n, ok := c.badAdverts.say(now); ok {
		c.cfg.Log.Warn("invalid gossiped cluster peer URL; ignoring update", "err", err, "repeats", n)
	}
}

// discoveredLocked lists the relays that gossip says we dial. One that nothing but gossip could lead to anybody waits
// to be dialled.
func (c *Cluster) discoveredLocked() (list []peers.Entry) {
	if len(c.static) == 0 && c.api == nil {
		return nil
	}
	for _, n := range c.adverts.Nodes() {
		if peers.Dials(c.own, n.Key) {
			list = append(list, n.Entry)
		}
	}
	return list
}

// sweep forgets relays that have been gone for long. A relay without any link forgets nobody: it is not them who left.
func (c *Cluster) sweep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.up > 0 {
		c.adverts.Sweep(time.Now())
	}
}

// repeated holds back a line that would be written over and over.
type repeated struct {
	last time.Time
	n    int
}

// say reports whether to write the line, at most once a minute, and how often it was held back.
func (r *repeated) say(now time.Time) (repeats int, ok bool) {
	if !r.last.IsZero() && now.Sub(r.last) < time.Minute {
		r.n++
		return 0, false
	}
	repeats = r.n
	*r = repeated{last: now}
	return repeats, true
}
