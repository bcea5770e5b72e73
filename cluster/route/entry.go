package route

// entry is what is known of one name.
type entry struct {
	name    string
	routes  []received // one for each peer
	serving source     // what is pulled from
	why     Reason     // for that
	shown   sight      // what readers are told of it
	hold    instant    // when they are told of what differs
	waiting instant    // when a better route may take over
	carry   carry
	fed     []*link // peers that pull it from us
	moves   *moves  // nil: none
	ghost   ghost
	unrest  unrest
	denials []denial

	due  instant // the next of all deadlines
	slot int     // its place in the agenda, counted from 1
}

// source is a serving route as it was when it was last looked at.
type source struct {
	peer      Peer
	neighbour neighbour
	chain     *chain // nil: none serves
	cold      uint64
}

// equal says whether two pull the same from the same place.
func (s source) equal(o source) bool { return s.peer == o.peer && same(s.chain, o.chain) }

// serve takes a route for the source.
func (e *entry) serve(r *received) {
	_, cold := r.cost()
	e.serving = source{r.link.peer, r.neighbour(), r.chain, cold}
}

// from is the route of a peer; nil = none. Valid until routes changes.
func (e *entry) from(p Peer) *received {
	for i := range e.routes {
		if e.routes[i].link.peer == p {
			return &e.routes[i]
		}
	}
	return nil
}

// current is the serving route, as long as it can serve.
func (e *entry) current() *received {
	if e.serving.chain == nil {
		return nil
	}
	if r := e.from(e.serving.peer); r != nil && e.usable(r) {
		return r
	}
	return nil
}

// usable says whether a route may serve at all.
func (e *entry) usable(r *received) bool { return e.state(r) == Standby }

// state is why a route cannot be used, or Standby.
func (e *entry) state(r *received) State {
	switch {
	case r.refused != Standby:
		return r.refused
	case e.denied(r):
		return Hidden
	case e.ghost.matches(r):
		return Quarantined
	}
	return Standby
}

// best is the most preferred of the usable routes that fit; nil = none.
func (e *entry) best(fits func(*received) bool) (best *received) {
	for i := range e.routes {
		r := &e.routes[i]
		if !e.usable(r) || !fits(r) {
			continue
		}
		if best == nil {
			best = r
		} else if c, _ := e.compare(r, best); c < 0 {
			best = r
		}
	}
	return best
}

func anyRoute(*received) bool { return true }

// deadline is when the next of all timers is due.
func (e *entry) deadline() instant {
	due := sooner(e.hold, e.waiting)
	due = sooner(due, e.carry.grace)
	due = sooner(due, e.ghost.until)
	if e.unrest.tooMuch() {
		due = sooner(due, e.unrest.ends())
	}
	for _, d := range e.denials {
		due = sooner(due, d.until)
	}
	for i := range e.routes {
		if l := e.routes[i].link; l.gone {
			due = sooner(due, l.until)
		}
	}
	return due
}

// idle says that there is nothing to remember.
func (e *entry) idle() bool {
	return len(e.routes) == 0 && !e.carry.live && len(e.fed) == 0 && e.due == 0
}
