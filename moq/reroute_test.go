package moq

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// mover is a broadcast that moves between sources as its route changes.
type mover struct {
	t   *testing.T
	b   *Broadcast
	src []*fakeSource
}

// moved is when all moves are made.
var moved = time.Unix(1000, 0)

func newMover(t *testing.T) *mover {
	m := &mover{t: t, src: []*fakeSource{{}}}
	m.b = NewBroadcast(NewCache(0), m.src[0])
	m.b.moves = true
	return m
}

// move reroutes to a new source.
func (m *mover) move() {
	m.src = append(m.src, &fakeSource{})
	m.b.reroute(m.src[len(m.src)-1], moved)
}

// feed is the writer that the source of route n was given last.
func (m *mover) feed(n int) *TrackWriter {
	m.t.Helper()
	opened := m.src[n].opened
	if len(opened) == 0 {
		m.t.Fatalf("route %d was not asked for the track", n)
	}
	return opened[len(opened)-1]
}

func (m *mover) group(n int, sequence uint64) *GroupWriter {
	m.t.Helper()
	g, err := m.feed(n).Group(sequence)
	if err != nil {
		m.t.Fatalf("route %d begins group %d: %v", n, sequence, err)
	}
	return g
}

func (m *mover) subscribe() *Subscription {
	m.t.Helper()
	s, err := m.b.Subscribe(TrackKey{Name: "v"}, SubscribeOptions{}, nil)
	if err != nil {
		m.t.Fatal(err)
	}
	return s
}

func write(t *testing.T, g *GroupWriter, payloads ...string) {
	t.Helper()
	for i, p := range payloads {
		if err := g.WriteFrame(Frame{Timestamp: uint64(i), Payload: []byte(p)}); err != nil {
			t.Fatalf("frame %q: %v", p, err)
		}
	}
}

// drain reads what is there: "1:a,b." is group 1, closed, with two frames.
func drain(s *Subscription) string {
	var all []string
	for {
		r, ok := s.Next()
		if !ok {
			return strings.Join(all, " ")
		}
		all = append(all, fmt.Sprintf("%d:%s", r.Sequence(), frames(&r)))
	}
}

func frames(r *GroupReader) string {
	var got []string
	for {
		f, state, err := r.frameNow()
		switch {
		case err != nil:
			return strings.Join(got, ",") + "!"
		case state == Done:
			return strings.Join(got, ",") + "."
		case f.Payload == nil:
			return strings.Join(got, ",")
		}
		got = append(got, string(f.Payload))
	}
}

// TestMoveAtAGroupBoundary: the old route is let go when the new one has begun and
// the group under way is whole; nothing is lost or comes twice.
func TestMoveAtAGroupBoundary(t *testing.T) {
	m := newMover(t)
	s := m.subscribe()
	first := m.group(0, 1)
	write(t, first, "a")
	m.move()
	if d, _ := m.feed(1).Demand(); d.Start != (Start{Kind: StartAt, Group: 1}) {
		t.Errorf("the new route is asked from %+v, want group 1", d.Start)
	}
	if d, _ := m.feed(0).Demand(); d.Subscribers != 1 {
		t.Error("the old route is let go before the new one has begun")
	}
	next := m.group(1, 2)
	write(t, next, "x")
	if d, _ := m.feed(0).Demand(); d.Subscribers != 1 {
		t.Error("the old route is let go with a group under way that only it brings")
	}
	if _, err := m.feed(0).Group(2); !errors.Is(err, ErrCancelled) {
		t.Errorf("the old route begins another group: %v", err)
	}
	write(t, first, "b")
	first.Close()
	if d, _ := m.feed(0).Demand(); d.Subscribers != 0 {
		t.Error("the old route is kept")
	}
	next.Close()
	if got, want := drain(s), "1:a,b. 2:x."; got != want {
		t.Errorf("read %q, want %q", got, want)
	}
}

// TestMoveWithinAGroup: the new route goes on with the group that the old one left,
// in the middle of a frame too.
func TestMoveWithinAGroup(t *testing.T) {
	m := newMover(t)
	s := m.subscribe()
	g := m.group(0, 7)
	write(t, g, "aa")
	g.BeginFrame(1, 4)
	g.Write([]byte("bb"))
	g.Flush()
	g.Lose(ErrClosed)
	m.feed(0).Lose(ErrClosed)
	r, ok := s.Next()
	if !ok || r.Err() != nil {
		t.Fatalf("the group of a lost route is gone: %v", r.Err())
	}
	m.move()
	again := m.group(1, 7)
	write(t, again, "aa", "bbcc", "dd")
	again.Close()
	if got, want := frames(&r), "aa,bbcc,dd."; got != want {
		t.Errorf("read %q, want %q", got, want)
	}
}

// TestBothRoutesBringAGroup: whichever is ahead is followed; the other may fall
// behind or end.
func TestBothRoutesBringAGroup(t *testing.T) {
	m := newMover(t)
	s := m.subscribe()
	old := m.group(0, 1)
	write(t, old, "a")
	m.move()
	next := m.group(1, 1)
	write(t, next, "a", "b")
	write(t, old, "b")
	write(t, old, "c")
	write(t, next, "c", "d")
	old.Abort(ErrCancelled)
	next.Close()
	if got, want := drain(s), "1:a,b,c,d."; got != want {
		t.Errorf("read %q, want %q", got, want)
	}
}

// TestOtherContentIsRefused: a route that brings other frames under the same
// numbers does not mix into the group.
func TestOtherContentIsRefused(t *testing.T) {
	m := newMover(t)
	m.subscribe()
	write(t, m.group(0, 1), "abc")
	m.move()
	g := m.group(1, 1)
	if err := g.WriteFrame(Frame{Payload: []byte("other")}); !errors.Is(err, ErrMalformed) {
		t.Errorf("a frame of another size: %v, want ErrMalformed", err)
	}
}

// TestNewRouteFails: the old one goes on as if nothing had been.
func TestNewRouteFails(t *testing.T) {
	m := newMover(t)
	s := m.subscribe()
	g := m.group(0, 1)
	m.move()
	m.feed(1).Abort(ErrNotFound)
	write(t, g, "a")
	g.Close()
	write(t, m.group(0, 2), "b")
	if got, want := drain(s), "1:a. 2:b"; got != want {
		t.Errorf("read %q, want %q", got, want)
	}
	m.feed(0).Lose(ErrClosed)
	if _, _, _, err := s.End(); !errors.Is(err, ErrClosed) {
		t.Errorf("both routes are gone: %v, want ErrClosed", err)
	}
}

// TestLostForGood: a track whose last route is gone waits only as long as there may
// be another.
func TestLostForGood(t *testing.T) {
	for _, first := range []string{"supply", "route"} {
		m := newMover(t)
		s := m.subscribe()
		if first == "route" {
			m.b.detach()
		}
		m.feed(0).Lose(ErrClosed)
		if first == "supply" {
			if _, _, _, err := s.End(); err != nil {
				t.Fatalf("the track ended while its broadcast may move: %v", err)
			}
			m.b.detach()
		}
		if _, _, _, err := s.End(); !errors.Is(err, ErrClosed) {
			t.Errorf("%s first: %v, want ErrClosed", first, err)
		}
		if _, err := m.b.Subscribe(TrackKey{Name: "v"}, SubscribeOptions{}, nil); !errors.Is(err, ErrUnroutable) {
			t.Errorf("%s first: subscribing anew: %v, want ErrUnroutable", first, err)
		}
	}
}

// TestRouteOnTrial: when no route is left, what runs over the last one goes on if that
// has brought something long after the move, and ends if it may lead in a circle.
func TestRouteOnTrial(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after time.Duration
		ends  bool
	}{{"at once", 0, true}, {"soon", probation - 1, true}, {"later", probation, false}} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMover(t)
			s := m.subscribe()
			write(t, m.group(0, 1), "a")
			m.feed(0).Lose(ErrClosed)
			m.move()
			g := m.group(1, 1)
			g.Arrives(moved.Add(tt.after))
			m.b.detach()
			if _, _, _, err := s.End(); errors.Is(err, ErrClosed) != tt.ends {
				t.Errorf("the track ended: %v, want that it does: %v", err, tt.ends)
			}
			if d, _ := m.feed(1).Demand(); d.Over != tt.ends {
				t.Errorf("the last route is let go: %v, want %v", d.Over, tt.ends)
			}
		})
	}
}

// TestRouteOnTrialGivesBack: a route that has not yet taken over leaves the old one
// as it was.
func TestRouteOnTrialGivesBack(t *testing.T) {
	m := newMover(t)
	s := m.subscribe()
	g := m.group(0, 1)
	m.move()
	m.b.detach()
	write(t, g, "a")
	g.Close()
	write(t, m.group(0, 2), "b")
	if got, want := drain(s), "1:a. 2:b"; got != want {
		t.Errorf("read %q, want %q", got, want)
	}
	if d, _ := m.feed(1).Demand(); !d.Over {
		t.Error("the new route is kept")
	}
}

// TestRoutesOnTrial: of several moves in a row none has proven itself, nor has what is
// opened over the last one.
func TestRoutesOnTrial(t *testing.T) {
	m := newMover(t)
	s := m.subscribe()
	m.feed(0).Lose(ErrClosed)
	m.move()
	m.move()
	other, err := m.b.Subscribe(TrackKey{Name: "other"}, SubscribeOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.b.detach()
	for _, s := range []*Subscription{s, other} {
		if _, _, _, err := s.End(); !errors.Is(err, ErrClosed) {
			t.Errorf("the track %q: %v, want ErrClosed", s.Track().key.Name, err)
		}
	}
}

// TestMovedAgain: of several moves in a row only the last two routes are in use.
func TestMovedAgain(t *testing.T) {
	m := newMover(t)
	s := m.subscribe()
	write(t, m.group(0, 1), "a")
	for range 5 {
		m.move()
	}
	for n := range 4 {
		if d, _ := m.feed(n).Demand(); d.Subscribers != 0 {
			t.Errorf("route %d is still asked", n)
		}
	}
	g := m.group(5, 1)
	write(t, g, "a", "b")
	g.Close()
	if got, want := drain(s), "1:a,b."; got != want {
		t.Errorf("read %q, want %q", got, want)
	}
}

// TestIdleTracksDoNotMove: what nobody wants is not asked for on the new route.
func TestIdleTracksDoNotMove(t *testing.T) {
	m := newMover(t)
	m.subscribe().Close()
	m.move()
	if n := len(m.src[1].opened); n != 0 {
		t.Errorf("an idle track was asked for %d times", n)
	}
	if d, _ := m.feed(0).Demand(); d.Holders != 0 {
		t.Error("the old route is held")
	}
}

// TestEndOnEitherRoute: the clean end counts once, from whichever route it comes.
func TestEndOnEitherRoute(t *testing.T) {
	for from := range 2 {
		m := newMover(t)
		s := m.subscribe()
		m.feed(0).WriteGroup(1, Frame{Payload: []byte("a")})
		m.move()
		m.feed(from).SetEnd(2)
		m.feed(from).Finish()
		drain(s)
		if end, known, complete, err := s.End(); end != 2 || !known || !complete || err != nil {
			t.Errorf("route %d: end %d %v %v %v", from, end, known, complete, err)
		}
	}
}

// TestMovedBack: a route that is still in use when it is chosen again goes on.
func TestMovedBack(t *testing.T) {
	m := newMover(t)
	s := m.subscribe()
	g := m.group(0, 1)
	write(t, g, "a")
	m.move()
	m.b.reroute(m.src[0], moved)
	if n := len(m.src[0].opened); n != 1 {
		t.Errorf("the first route was asked %d times, want once", n)
	}
	if d, _ := m.feed(1).Demand(); !d.Over {
		t.Error("the route that was left is still wanted")
	}
	write(t, g, "b")
	g.Close()
	if got, want := drain(s), "1:a,b."; got != want {
		t.Errorf("read %q, want %q", got, want)
	}
}

// TestResumeIsForThoseWhoWereThere: where a move began is of no interest to readers
// who come when all earlier ones have left.
func TestResumeIsForThoseWhoWereThere(t *testing.T) {
	m := newMover(t)
	s := m.subscribe()
	write(t, m.group(0, 1), "a")
	m.move()
	if d, _ := m.feed(1).Demand(); d.Start != (Start{Kind: StartAt, Group: 1}) {
		t.Fatalf("asked from %+v, want group 1", d.Start)
	}
	s.Close()
	m.subscribe()
	if d, _ := m.feed(1).Demand(); d.Start != (Start{}) {
		t.Errorf("a later reader has it asked from %+v, want the live edge", d.Start)
	}
}
