package moq

// maxDatagrams is how many datagrams a track keeps for subscribers that are
// about to read them (moq-lite.md §9.2). Older ones are lost, as datagrams are.
const maxDatagrams = 64

// datagrams is a ring of the newest datagrams of a track.
type datagrams struct {
	ring  []Datagram
	count uint64 // ever added
}

func (d *datagrams) add(g Datagram) {
	if len(d.ring) < maxDatagrams {
		d.ring = append(d.ring, g)
	} else {
		d.ring[d.count%maxDatagrams] = g
	}
	d.count++
}

// after returns the first datagram still here that comes after the first n, and
// how many have then been seen.
func (d *datagrams) after(n uint64) (g Datagram, seen uint64, ok bool) {
	if oldest := d.count - uint64(len(d.ring)); n < oldest {
		n = oldest
	}
	if n >= d.count {
		return g, n, false
	}
	return d.ring[n%maxDatagrams], n + 1, true
}
