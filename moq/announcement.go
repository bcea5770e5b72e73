package moq

import (
	"time"

	"github.com/moqmesh/moqmesh/cluster/route"
)

// Announcement is a broadcast that this process publishes.
type Announcement struct {
	n    *Neighbour
	path string
	b    *Broadcast
}

// Publish announces a broadcast of this process. path is clean (see
// wire.CleanPath). It also answers requests for paths below it, unless a deeper
// path is announced. The caller ends the broadcast itself.
func (o *Origin) Publish(path string, b *Broadcast) *Announcement { return o.PublishAt(path, b, 0) }

// PublishAt announces a broadcast that costs something while nobody reads it: a
// standby, which is chosen only where nothing cheaper is there (cluster.md §4).
func (o *Origin) PublishAt(path string, b *Broadcast, cost uint64) *Announcement {
	a := &Announcement{o.join(route.Own), path, b}
	a.SetCost(cost)
	return a
}

// SetCost changes the price in place.
func (a *Announcement) SetCost(cost uint64) {
	a.n.learn(time.Time{}, a.path, supply{own: a.b}, route.Route{Warm: cost, Cold: cost})
}

// Withdraw ends the announcement. Running subscriptions go on as long as the
// broadcast does. Later calls do nothing.
func (a *Announcement) Withdraw() { a.n.Withdraw(time.Time{}, a.path) }

// Path is what was announced.
func (a *Announcement) Path() string { return a.path }
