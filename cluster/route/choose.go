package route

// choose decides what to pull from.
func (t *Table) choose(e *entry, now instant) {
	e.waiting = 0
	best, current := e.best(anyRoute), e.current()
	switch {
	case best == nil:
		e.lose(now)
	case !e.carry.on():
		e.serve(best)
	case current == nil || e.presence(current) > e.presence(best):
		t.flee(e, current, t.refuge(e, best), now)
	default:
		t.improve(e, current, now)
	}
	e.why = t.why(e)
}

// refuge is where to go when the source of a carried name does not serve any more:
// to the best, but not into a circle if another is as sure to serve.
func (t *Table) refuge(e *entry, best *received) *received {
	safe := e.best(func(r *received) bool { return e.presence(r) == e.presence(best) && !t.guarded(e, r) })
	if safe == nil {
		return best
	}
	return safe
}

// flee leaves a source that does not serve any more: at once, unless it is there and
// we have come and gone too often. Then it is other relays that drive us about, and
// what serves us badly is better than their keeping it up.
func (t *Table) flee(e *entry, current, to *received, now instant) {
	if current != nil && e.presence(current) == fed && e.moves.restless(now, to.neighbour()) {
		e.undercut(current, to, now)
		return
	}
	e.replace(to, now)
	if current != nil {
		e.moves.flights++
	}
}

// lose is when nothing is left that serves.
func (e *entry) lose(now instant) {
	if e.serving.chain != nil {
		e.ghost = haunt(now, e.serving)
	}
	e.serving = source{}
}

// replace takes another source for a carried name.
func (e *entry) replace(best *received, now instant) {
	e.leave(now)
	e.serve(best)
}

// improve looks for something better than a source that works and is in use.
func (t *Table) improve(e *entry, current *received, now instant) {
	better := e.best(func(r *received) bool { return r == current || !t.guarded(e, r) })
	_, why := e.compare(better, current)
	switch {
	case better == current:
		e.serve(current) // its chain may have changed
	case why == Newest: // the publisher is back, or a connection is replaced
		e.replace(better, now)
	default:
		e.undercut(current, better, now)
	}
}

// undercut moves to a better source once the last such move has settled.
func (e *entry) undercut(current, better *received, now instant) {
	to := better.neighbour()
	if ready := e.moves.ready(now, to); ready > now {
		e.waiting = ready
		e.serve(current)
		return
	}
	e.replace(better, now)
	e.moves.priced(now, to)
}

// leave records that a carried name leaves its source.
func (e *entry) leave(now instant) {
	if e.moves == nil {
		e.moves = new(moves)
	}
	if e.serving.chain == nil {
		return
	}
	e.moves.leave(now, e.serving.neighbour)
}

// why says why the serving route serves: what decided between it and the best
// of the others.
func (t *Table) why(e *entry) Reason {
	current := e.current()
	if current == nil {
		return Only
	}
	second := e.best(func(r *received) bool { return r != current })
	if second == nil {
		return Only
	}
	return t.between(e, current, second)
}

// between is the rule that decided for the serving route and against another.
func (t *Table) between(e *entry, current, other *received) Reason {
	order, why := e.compare(current, other)
	switch {
	case order < 0:
		return why
	case t.guarded(e, other):
		return Guarded
	}
	return Dwelling
}
