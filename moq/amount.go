package moq

// Amount is how much content something is.
type Amount struct {
	Groups, Frames, Bytes uint64 // bytes with frame headers
}

// add counts what is here of a group.
func (a *Amount) add(g *Group) {
	a.Groups++
	a.Frames += uint64(len(g.frames))
	a.Bytes += uint64(g.size)
}

// Less is what a is more than b.
func (a Amount) Less(b Amount) Amount {
	return Amount{a.Groups - b.Groups, a.Frames - b.Frames, a.Bytes - b.Bytes}
}

// Rest is what is here of the group and not read yet, counted as one group. Of a
// group that is gone nothing is here.
func (r *GroupReader) Rest() Amount {
	r.g.track.mu.Lock()
	defer r.g.track.mu.Unlock()
	if r.g.err != nil {
		return Amount{Groups: 1}
	}
	return Amount{1, uint64(len(r.g.frames) - r.frame), uint64(r.g.size) - uint64(r.pos)}
}
