package lite

import "github.com/moqmesh/moqmesh/moq/wire"

// Cost is the sum of link prices from the origin, unitless, each at most
// wire.MaxVarint (§6.4). 06-wip has one number: Warm is sent, and fills both
// when read.
type Cost struct {
	Warm uint64 // of one more subscription as the mesh stands
	Cold uint64 // of the same path with nothing cached
}

func (c Cost) append(b []byte, v Version) []byte {
	enc := v.Encoding()
	b = enc.AppendVarint(b, c.Warm)
	if v.hasTwoCosts() {
		b = enc.AppendVarint(b, c.Cold)
	}
	return b
}

func readCost(r *wire.Reader, v Version) (c Cost) {
	c.Warm = r.Saturating()
	c.Cold = c.Warm
	if v.hasTwoCosts() {
		c.Cold = r.Saturating()
	}
	return c
}
