package moq

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/cluster/route"
)

// TestLinger is field report A17: what breaks off stays announced for a while, and a
// publisher that is back by then goes on with the same broadcast. A withdrawal ends
// it at once.
func TestLinger(t *testing.T) {
	const linger = 5 * time.Second
	for _, tt := range []struct {
		name string
		ends func(n neighbour)
		back time.Duration // when the publisher returns; 0 = never
		want []string      // told to a watcher who was told of the start
	}{
		{"withdrawn", func(n neighbour) { n.Withdraw(at, "x") }, 0, []string{"-"}},
		{"broken off for good", func(n neighbour) { n.Leave(at) }, 0, []string{"-"}},
		{"back in time", func(n neighbour) { n.Leave(at) }, linger - 1, nil},
		{"back too late", func(n neighbour) { n.Leave(at) }, linger + time.Second, []string{"-", "+"}},
	} {
		o := NewRoutedOrigin(route.Config{Self: 99, Linger: linger}, NewCache(0))
		first := join(t, o, 5)
		first.announce("x", 0, 1, 5)
		w := o.Watch("x", Reader{})
		events(w)
		b, _, _ := o.Find("x", Reader{})
		s, err := b.Subscribe(TrackKey{Name: "v"}, SubscribeOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		tt.ends(first)
		first.src.opened[0].Lose(ErrClosed)
		o.Advance(at)
		got := events(w)
		if tt.back > 0 {
			o.Advance(at.Add(tt.back))
			got = append(got, events(w)...)
			again := neighbour{o.Join(at.Add(tt.back), route.Link{ID: 6, Own: route.PriceOf(0), Trusted: true, Stamp: 2}), t, &fakeSource{}}
			again.Announce(at.Add(tt.back), "x", again.src, route.Route{Hops: []uint64{1, 5}})
		}
		o.Advance(at.Add(time.Minute))
		got = append(got, events(w)...)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: told (-want +got):\n%s", tt.name, diff)
		}
		_, _, _, err = s.End()
		if goesOn := err == nil; goesOn != (tt.want == nil) {
			t.Errorf("%s: the subscription ends with %v", tt.name, err)
		}
		w.Close()
	}
}
