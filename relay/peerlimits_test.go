package relay

import (
	"fmt"
	"testing"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/relay/conf"
)

// Limits of one session are for clients. A link between relays carries what all of
// theirs have, whoever dialled it.
func TestPeersAreNotClients(t *testing.T) {
	few := func(c *conf.Relay) {
		c.Limits.AnnouncementsPerSession, c.Limits.SubscriptionsPerSession = 2, 2
	}
	a := hub(t, few)
	b := start(t, few, dialling(a))
	const each = 10
	tracks := make(map[*node][]*moq.TrackWriter)
	for i := range each {
		for name, n := range map[string]*node{"a": a, "b": b} {
			broadcast := moq.NewBroadcast(n.origin.Cache(), nil)
			w, err := broadcast.Create("video", moq.TrackInfo{})
			if err != nil {
				t.Fatal(err)
			}
			n.origin.Publish(fmt.Sprint(name, i), broadcast)
			tracks[n] = append(tracks[n], w)
		}
	}
	for name, n := range map[string]*node{"a": a, "b": b} {
		eventually(t, name+" knows all", func() bool { return n.origin.Len() == 2*each })
	}
	for name, n := range map[string]*node{"a": b, "b": a} { // who reads the other's
		for i := range each {
			b, _, err := n.origin.Find(fmt.Sprint(name, i), moq.Reader{})
			if err != nil {
				t.Fatal(err)
			}
			subscribe(t, b, "video")
		}
	}
	for _, all := range tracks {
		for _, w := range all {
			eventually(t, "all are pulled", func() bool { d, _ := w.Demand(); return d.Subscribers == 1 })
		}
	}
	for name, n := range map[string]*node{"a": a, "b": b} {
		if got := n.metric(t, prefix+`limited_total{tier=""}`); got != "0" {
			t.Errorf("%s refused %s times", name, got)
		}
	}
}
