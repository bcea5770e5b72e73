package route

// fits says whether a list has room for our own hop.
func (t *Table) fits(r Reader, hops []uint64) bool {
	limit := t.cfg.MaxHops
	if r.MaxHops > 0 {
		limit = min(limit, r.MaxHops)
	}
	return len(hops) < limit
}

// offer is what a reader is to be told. What is held back from others is not held
// back from those that the new or the old route runs through: the ones are about
// to pull in a circle, the others saw something else before.
func (t *Table) offer(e *entry, r Reader) (Choice, bool) {
	current := e.current()
	switch {
	case current == nil:
		return Choice{}, false
	case current.through(r.ID):
		return t.standby(e, r)
	case !e.shown.through(r.ID) && t.fits(r, e.shown.chain.hops):
		return e.shown.choice(e.shownWhy()), true
	case t.fits(r, current.chain.hops):
		actual := e.present()
		return actual.choice(e.why), true
	}
	return t.standby(e, r)
}

// standby is the best route that a reader may be told of, at its real price.
func (t *Table) standby(e *entry, r Reader) (Choice, bool) {
	return choice(e.best(func(c *received) bool { return !c.through(r.ID) && t.fits(r, c.chain.hops) }))
}

// source is where a reader's request is served from.
func (e *entry) source(id uint64) (Choice, bool) {
	if c := e.current(); c != nil && !c.through(id) {
		return c.choice(e.why), true
	}
	return choice(e.best(func(c *received) bool { return !c.through(id) }))
}

func choice(standby *received) (Choice, bool) {
	if standby == nil {
		return Choice{}, false
	}
	return standby.choice(Instead), true
}

// shownWhy is why readers see what they see.
func (e *entry) shownWhy() Reason {
	if e.hold != 0 {
		return Held
	}
	return e.why
}
