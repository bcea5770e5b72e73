package cluster

import (
	"cmp"
	"errors"

	"github.com/moqmesh/moqmesh/cluster/peers"
)

// errOwnID refuses a session whose other side takes itself for us.
var errOwnID = errors.New("peer has this relay's own hop id")

const idCure = "give each relay its own cluster.id, and dial it by one URL"

// maxTold bounds how many meetings are remembered as told.
const maxTold = 256

// identities remembers which meetings of two relays with one hop id have been told. When it is full it forgets them
// all: a line too many is better than one too few.
type identities struct{ told map[[2]string]bool }

func (i *identities) first(a, b string) bool {
	pair := [2]string{min(a, b), max(a, b)}
	if i.told[pair] {
		return false
	}
	if i.told == nil || len(i.told) >= maxTold {
		i.told = make(map[[2]string]bool)
	}
	i.told[pair] = true
	return true
}

// first says whether the meeting of a and b has not been told yet.
func (c *Cluster) first(a, b string) bool {
	c.cfg.Counters.Twins.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.identities.first(a, b)
}

// meet says what is wrong with a peer that has this hop id: with ours, every announcement looks like a loop on the
// other side and is dropped in silence. The line is written once for each pair.
func (c *Cluster) meet(peer string, id uint64) error {
	if id == 0 || id != c.cfg.Origin.ID() {
		return nil
	}
	if node := cmp.Or(string(c.own), "this relay"); c.first(node, peer) {
		c.cfg.Log.Error("cluster peer has this relay's own hop id; refusing the session",
			"node", node, "peer", peer, "hop_id", id, "cure", idCure)
	}
	return errOwnID
}

// tellTwins says, once for each pair, that two others share a hop id.
func (c *Cluster) tellTwins(a, b peers.Key, id uint64) {
	if c.first(string(a), string(b)) {
		c.cfg.Log.Error("two cluster peers share one hop id; broadcasts of one are hidden from the other",
			"peer", string(a), "other", string(b), "hop_id", id, "cure", idCure)
	}
}

// lookForTwin compares a link that is up with the others.
func (c *Cluster) lookForTwin(k peers.Key, id uint64) {
	for _, l := range c.Links() {
		if id != 0 && !l.Inbound && l.Peer != string(k) && l.HopID == id && l.State.up() {
			c.tellTwins(k, peers.Key(l.Peer), id)
		}
	}
}
