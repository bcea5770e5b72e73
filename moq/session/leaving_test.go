package session_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// TestLeavingPeersRoutes is scenario I7 as far as one relay goes: with a GOAWAY every
// route from that peer costs the maximum, whatever it says or does not say
// from then on.
func TestLeavingPeersRoutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const v = lite.V06
		relay := newSide(3)
		p := relay.pricer(t, v)
		viewer := relay.listener(t, v)
		p.say(nil, lite.Cost{Warm: 1, Cold: 2})
		viewer.news()
		ask(t, p.conn, request(v, lite.StreamGoaway, lite.Goaway{}))
		time.Sleep(time.Second) // a price that rises may be held back for a moment
		synctest.Wait()
		if got := viewer.news(); !strings.HasPrefix(got, "02") || !strings.HasSuffix(got, strings.Repeat("f", 32)) {
			t.Errorf("after GOAWAY the viewer is told %q, want an update to the maximum", got)
		}
		p.say(nil, lite.Cost{Warm: 0, Cold: 0})
		if got := viewer.news(); got != "" {
			t.Errorf("after another price the viewer is told %q, want nothing", got)
		}
	})
}

// TestLeavingPeerIsAvoided: from GOAWAY on another publisher of the name serves, on
// every version that can say it.
func TestLeavingPeerIsAvoided(t *testing.T) {
	eachVersion(t, lite.V04, func(t *testing.T, v lite.Version) {
		relay, viewer := newSide(3), newSide(2)
		other := newSide(5)
		join(t, v, other, relay)
		b := moq.NewBroadcast(other.origin.Cache(), nil)
		other.origin.Publish(camera, b)
		synctest.Wait()
		w, err := b.Create("v", moq.TrackInfo{Timescale: 1000})
		if err != nil {
			t.Fatal(err)
		}
		leaving := newSide(1)
		c, _ := join(t, v, leaving, relay)
		leaving.origin.Publish(camera, moq.NewBroadcast(leaving.origin.Cache(), nil))
		join(t, v, viewer, relay)
		if err := c.Goaway(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second) // a move may wait until it is sure
		s := viewer.subscribe(t, moq.SubscribeOptions{})
		write(t, w, 0, "from the one that stays")
		if got := groups(t, s); len(got) != 1 || got[0] != "from the one that stays" {
			t.Errorf("groups %q, want one from the one that stays", got)
		}
	})
}
