package cluster_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/internal/simmesh"
	"github.com/moqmesh/moqmesh/moq"
)

// TestScale measures meshes of many relays: a ring with chords over a quarter of it. All times are simulated; each link
// takes 20 ms. What it prints is kept in bench/results.
func TestScale(t *testing.T) {
	sizes := []struct {
		relays int
		hops   int // from one relay to the farthest, at most
		churn  int // broadcasts that come and go
	}{{3, 1, 1000}, {20, 5, 1000}, {50, 8, 100}, {200, 16, 20}}
	for _, size := range sizes {
		t.Run(fmt.Sprint(size.relays), func(t *testing.T) {
			if size.relays > 20 && testing.Short() {
				t.Skip("takes a while")
			}
			inBubble(t, func(t *testing.T) {
				s := &scale{t: t, m: simmesh.Prepare(t, latency, chorded(size.relays)...), rng: rand.New(rand.NewPCG(1, 2))}
				s.travel = time.Duration(size.hops) * latency
				s.simultaneousStart()
				s.publishAndWithdraw()
				s.churn(size.churn)
				s.crash()
				s.partition()
			})
		})
	}
}

// chorded are the links of a ring with a chord from every fourth relay over a quarter of it.
func chorded(relays int) (links []string) {
	for i := range relays {
		links = append(links, fmt.Sprintf("r%d-r%d", i, (i+1)%relays))
		if step := relays / 4; i%4 == 0 && step > 1 {
			links = append(links, fmt.Sprintf("r%d-r%d", i, (i+step)%relays))
		}
	}
	return links
}

// scale is one mesh that is measured.
type scale struct {
	t      *testing.T
	m      *simmesh.Mesh
	rng    *rand.Rand
	travel time.Duration // a word takes from one end to the other
}

const (
	// settled is what it takes, beyond the way of the news, until all relays have a route.
	settled = time.Second
	// hunt is the longest time in which relays may tell each other of routes that are gone: each round of it takes as
	// long as a changed chain is held, and makes the chains longer, up to the bound of 32 hops.
	hunt = 32 * 300 * time.Millisecond
	// silent is how long a dead peer may count as there: 10 s after a sign of life was sent last, which is every 3 s.
	silent = 13*time.Second + settled
	// redial is the longest wait before a peer is dialled again, and the dial.
	redial = 10*time.Second + settled
	// news and hunted are how many messages about one broadcast may cross a link, where it comes and where it goes: then
	// one each way in each round.
	news, hunted = 6, 2 * 32
)

// report prints what an event came to, and holds it to bounds. each says how many broadcasts it was about, and perLink
// how many messages about each may cross a link.
func (s *scale) report(what string, took, most time.Duration, before simmesh.Messages, each, perLink int) {
	s.t.Helper()
	quiet := s.m.Quiet(time.Minute)
	n, links := s.m.Messages().Minus(before), len(s.m.Links())
	got := float64(n.Total()) / float64(links) / float64(each)
	s.t.Logf("| %d relays, %d links | %s | %v | %v | %v | %.2f |", len(s.m.Relays()), links, what,
		took.Round(pace), (took + quiet).Round(pace), n, got)
	if took > most {
		s.t.Errorf("%s took %v, want at most %v", what, took, most)
	}
	if got > float64(perLink) {
		s.t.Errorf("%s: %.2f messages for each link and broadcast, want at most %d", what, got, perLink)
	}
}

// pace is how exactly the figures are printed.
const pace = 10 * time.Millisecond

func (s *scale) relay(n int) *simmesh.Relay { return s.m.Relay(fmt.Sprintf("r%d", n)) }

// total waits until every relay lists so many paths.
func (s *scale) total(paths int, most time.Duration) time.Duration {
	s.t.Helper()
	return s.m.Until(most, func() bool {
		for _, r := range s.m.Relays() {
			if r.Origin().Len() != paths {
				return false
			}
		}
		return true
	})
}

// simultaneousStart starts all relays at once, each of the first twenty with a broadcast of its own.
func (s *scale) simultaneousStart() {
	s.t.Helper()
	broadcasts := min(20, len(s.m.Relays()))
	var handles []*moq.Announcement
	for n := range broadcasts {
		handles = append(handles, local(s.relay(n), fmt.Sprintf("own/%d", n)))
	}
	before, begun := s.m.Messages(), time.Now()
	s.m.Start()
	s.total(broadcasts, time.Minute)
	what := fmt.Sprintf("all start at once, %d broadcasts", broadcasts)
	s.report(what, time.Since(begun), s.travel+settled, before, broadcasts, news)
	for _, h := range handles {
		h.Withdraw()
	}
	s.total(0, time.Minute)
	s.m.Quiet(time.Minute)
}

func (s *scale) publishAndWithdraw() {
	s.t.Helper()
	before := s.m.Messages()
	handle := local(s.relay(0), cam)
	s.report("publish", s.total(1, time.Minute), s.travel+settled, before, 1, news)
	before = s.m.Messages()
	handle.Withdraw()
	s.report("withdraw", s.total(0, time.Minute), s.travel+hunt, before, 1, hunted)
}

// churn publishes broadcasts at random relays, a hundred in a second, each withdrawn a second later.
func (s *scale) churn(broadcasts int) {
	s.t.Helper()
	const lives = 100
	before := s.m.Messages()
	var handles []*moq.Announcement
	for n := range broadcasts + lives {
		if n < broadcasts {
			handles = append(handles, local(s.relay(s.rng.IntN(len(s.m.Relays()))), fmt.Sprintf("churn/%d", n)))
		}
		if n >= lives {
			handles[n-lives].Withdraw()
		}
		time.Sleep(time.Second / lives)
	}
	what := fmt.Sprintf("churn of %d, after the last", broadcasts)
	s.report(what, s.total(0, time.Minute), s.travel+hunt, before, broadcasts, news+hunted)
}

// crash kills the relay of a broadcast, which comes back without it.
func (s *scale) crash() {
	s.t.Helper()
	local(s.relay(0), cam)
	s.total(1, time.Minute)
	s.m.Quiet(time.Minute)
	before := s.m.Messages()
	s.relay(0).Crash()
	took := s.m.Until(time.Minute, func() bool {
		listing := s.m.Listing(cam)
		return len(listing) == 0 || len(listing) == 1 && listing[0] == "r0"
	})
	s.report("crash of its relay", took, silent+s.travel+hunt, before, 1, hunted)
	s.relay(0).Restart(0)
	s.m.AwaitLinks(time.Minute)
	s.m.Quiet(time.Minute)
}

// partition cuts the mesh in two halves and joins it again, with a broadcast in each.
func (s *scale) partition() {
	s.t.Helper()
	local(s.relay(0), "half/one")
	local(s.relay(len(s.m.Relays())-1), "half/two")
	s.total(2, time.Minute)
	s.m.Quiet(time.Minute)
	before := s.m.Messages()
	var half []string
	for n := range len(s.m.Relays()) / 2 {
		half = append(half, s.relay(n).Name())
	}
	s.m.Partition(half...)
	s.report("partition", s.total(1, time.Minute), silent+s.travel+hunt, before, 2, hunted)
	time.Sleep(time.Minute)
	before = s.m.Messages()
	begun := time.Now()
	s.m.Heal()
	s.m.AwaitLinks(time.Minute)
	s.total(2, time.Minute)
	s.report("rejoin", time.Since(begun), redial+s.travel+settled, before, 2, news)
}
