package relay

import (
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/relay/conf"
)

// A23: what is open returns to nothing however it ends.
func TestA23GaugesReturnToZero(t *testing.T) {
	t.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true") // of the socket in between
	type scene struct {
		pub, viewer *party
		w           *moq.TrackWriter
		s           *moq.Subscription
		line        *severed
	}
	for name, end := range map[string]func(sc scene){
		"the viewer unsubscribes":       func(sc scene) { sc.s.Close() },
		"the viewer leaves":             func(sc scene) { sc.viewer.leave() },
		"the relay completes the track": func(sc scene) { sc.w.Finish() },
		"the publisher leaves":          func(sc scene) { sc.pub.leave() },
		"the viewer's session dies":     func(sc scene) { sc.line.cut.Store(true) },
	} {
		t.Run(name, func(t *testing.T) {
			n := start(t, func(c *conf.Relay) { c.QUIC.IdleTimeout, c.QUIC.KeepAlive = time.Second, 300*time.Millisecond })
			sc := scene{line: new(severed), pub: dial(t, n.url("moqt", "/"))}
			sc.w = sc.pub.publish(t, "x", "video")
			sc.viewer = dial(t, n.url("moqt", "/"), through(sc.line))
			sc.s = sc.viewer.view(t, "x", "video")
			write(t, sc.w, 0, "frame")
			expect(t, sc.s, 0, "frame")
			open := func(what, role string) float64 {
				m, labels := n.scrape(t), `_total{role="`+role+`",tier=""}`
				return m.value[prefix+what+"_opened"+labels] - m.value[prefix+what+"_closed"+labels]
			}
			for _, what := range []string{"subscriptions", "viewers"} {
				if out, in := open(what, "publisher"), open(what, "subscriber"); out != 1 || in != 1 {
					t.Fatalf("%s open: %v to viewers, %v from publishers, want one each", what, out, in)
				}
			}
			end(sc)
			for _, what := range []string{"subscriptions", "viewers"} {
				for _, role := range []string{"publisher", "subscriber"} {
					eventually(t, "no "+what+" of role "+role, func() bool { return open(what, role) == 0 })
				}
			}
			sc.line.cut.Store(false)
			sc.viewer.leave()
			sc.pub.leave()
			n.settled(t, 0)
			m := n.scrape(t)
			if sessions, opened, closed := m.sum(prefix+"sessions"), m.sum(prefix+"sessions_opened_total"), m.sum(prefix+"sessions_closed_total"); sessions != 0 || opened != 2 || closed != 2 {
				t.Errorf("%v sessions, %v opened, %v closed, want none left of two", sessions, opened, closed)
			}
		})
	}
}
