package route

import (
	"slices"
	"time"
)

const (
	dwellShortest = 2 * time.Second
	dwellLongest  = time.Minute
	// returning is how long a source counts as left not long ago.
	returning = 2 * time.Minute
	// maxFlights is how often a source may be left at once before returns wait.
	maxFlights = 4
	// maxLeft bounds how many of them are remembered; the oldest gives way.
	maxLeft = 8
)

// moves is the history of a carried name's changes of source.
type moves struct {
	last instant       // the last one for the sake of the price; 0 = none
	wait time.Duration // what it had to wait
	left []left        // sources that were left, the latest last
	// flights counts how often a source was left at once, since the last quiet time.
	flights int
}

// left is a source and when it was left.
type left struct {
	source neighbour
	at     instant
}

// neighbour is who is behind a link: its hop id, so that a new connection to it is
// the same, or where it has none the connection.
type neighbour struct {
	id   uint64
	peer Peer
}

func (r *received) neighbour() neighbour {
	if id := r.link.ID; id != 0 {
		return neighbour{id: id}
	}
	return neighbour{peer: r.link.peer}
}

// dwell is how long the last move settles before one to n.
func (m *moves) dwell(now instant, n neighbour) time.Duration {
	wait := dwellShortest
	if m.last != 0 && now < m.last.add(returning) {
		wait = max(wait, m.wait)
	}
	if m.leftLately(now, n) {
		wait = min(2*wait, dwellLongest)
	}
	return wait
}

// ready is when a move to n may happen; now or before: at once.
func (m *moves) ready(now instant, n neighbour) instant {
	if m == nil || m.last == 0 {
		return now
	}
	return m.last.add(m.dwell(now, n))
}

func (m *moves) leftLately(now instant, n neighbour) bool {
	return slices.ContainsFunc(m.left, func(l left) bool { return l.source == n && now < l.at.add(returning) })
}

// restless says that sources have been left at once so often that a return has to wait.
func (m *moves) restless(now instant, to neighbour) bool {
	return m != nil && m.flights >= maxFlights && m.leftLately(now, to)
}

// priced records a move for the sake of the price.
func (m *moves) priced(now instant, to neighbour) { m.wait, m.last = m.dwell(now, to), now }

// leave records that a source was left, for whatever reason.
func (m *moves) leave(now instant, n neighbour) {
	m.left = slices.DeleteFunc(m.left, func(l left) bool { return l.source == n || now >= l.at.add(returning) })
	if len(m.left) == 0 {
		m.flights = 0
	}
	if len(m.left) == maxLeft {
		m.left = slices.Delete(m.left, 0, 1)
	}
	m.left = append(m.left, left{n, now})
}
