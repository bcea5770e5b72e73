package qmux

// urgencies is how many levels of SetPriority there are.
const urgencies = 8

// defaultUrgency is that of a stream nobody ranked (RFC 9218 has the same).
const defaultUrgency = 3

// schedule holds the streams that have something to send, a list for each
// urgency. Streams of one urgency take turns.
type schedule struct {
	levels [urgencies]level
}

type level struct{ first, last *sendStream }

// front returns the stream whose turn it is, nil if there is none.
func (q *schedule) front() *sendStream {
	for i := range q.levels {
		if s := q.levels[i].first; s != nil {
			return s
		}
	}
	return nil
}

// add puts s at the end of its level unless it waits already.
func (q *schedule) add(s *sendStream) {
	if s.waiting {
		return
	}
	s.waiting = true
	l := &q.levels[s.urgency]
	s.prev, s.next = l.last, nil
	if l.last == nil {
		l.first = s
	} else {
		l.last.next = s
	}
	l.last = s
}

// remove takes s out if it waits.
func (q *schedule) remove(s *sendStream) {
	if !s.waiting {
		return
	}
	s.waiting = false
	l := &q.levels[s.urgency]
	if s.prev == nil {
		l.first = s.next
	} else {
		s.prev.next = s.next
	}
	if s.next == nil {
		l.last = s.prev
	} else {
		s.next.prev = s.prev
	}
	s.prev, s.next = nil, nil
}

// rotate ends the turn of s.
func (q *schedule) rotate(s *sendStream) {
	q.remove(s)
	q.add(s)
}

// rank moves s to another level.
func (q *schedule) rank(s *sendStream, urgency int8) {
	waiting := s.waiting
	q.remove(s)
	s.urgency = max(0, min(urgency, urgencies-1))
	if waiting {
		q.add(s)
	}
}
