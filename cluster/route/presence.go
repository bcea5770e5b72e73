package route

import "slices"

// presence is how sure a route is to bring anything; lower is better.
type presence uint8

const (
	there     presence = iota
	leaving            // the peer sent GOAWAY
	fed                // it runs through a peer that pulls the name from us
	lingering          // the connection is lost
)

func (e *entry) presence(r *received) presence {
	switch {
	case r.link.gone:
		return lingering
	case slices.ContainsFunc(e.fed, func(k *link) bool { return r.through(k.ID) }):
		return fed
	case r.link.Leaving:
		return leaving
	}
	return there
}

// feed records that a peer pulls the name from us, or does no longer, and says
// whether that is new.
func (e *entry) feed(k *link, on bool) bool {
	i := slices.Index(e.fed, k)
	switch {
	case on == (i >= 0):
		return false
	case on:
		e.fed, k.feeds = append(e.fed, k), append(k.feeds, e)
	default:
		at := slices.Index(k.feeds, e)
		e.fed, k.feeds = slices.Delete(e.fed, i, i+1), slices.Delete(k.feeds, at, at+1)
	}
	return true
}
