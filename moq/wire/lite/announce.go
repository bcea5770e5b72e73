package lite

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Values of an announcement's status byte.
const (
	statusEnded   = 0
	statusActive  = 1
	statusRestart = 2 // 05 only; read as active
)

// Announce says that a broadcast is reachable through the sender, or no longer
// is. ANNOUNCE on 01 to 05 (§6.3); later versions have [AnnounceStart] and its kin.
type Announce struct {
	Active bool   // false: ended
	Suffix string // below the requested prefix, clean; at most MaxPath bytes
	// Hops is the way from the origin, oldest first, at most MaxHops. Up to 04
	// it ends with the sender. On 03 only its length travels, so it reads as
	// that many zeros; on 01 and 02, and when ended, nothing does.
	Hops []uint64
}

// Append appends the framed message.
func (m Announce) Append(b []byte, v Version) []byte {
	enc := v.Encoding()
	start := len(b)
	b = wire.AppendBool(b, m.Active)
	b = enc.AppendString(b, m.Suffix)
	hops := m.Hops
	if !m.Active {
		hops = nil
	}
	switch {
	case v.HasHopIDs():
		b = appendHops(b, v, hops)
	case v == V03:
		b = enc.AppendVarint(b, uint64(len(hops)))
	}
	return enc.PrefixLength(b, start)
}

// DecodeAnnounce decodes a body.
func DecodeAnnounce(body []byte, v Version) (m Announce, err error) {
	r := v.reader(body)
	m.Active = readStatus(&r, v)
	m.Suffix = r.Path(MaxPath)
	switch {
	case v.HasHopIDs():
		m.Hops = readHops(&r)
	case v == V03:
		m.Hops = readHopCount(&r)
	}
	if !m.Active {
		m.Hops = nil // no meaning there; a peer may write them all the same
	}
	return m, finish(&r, "ANNOUNCE")
}

func readStatus(r *wire.Reader, v Version) (active bool) {
	switch status := r.Uint8(); {
	case status == statusEnded:
		return false
	case status == statusActive, status == statusRestart && v == V05:
		return true
	default:
		r.Fail(fmt.Errorf("status %d: %w", status, wire.ErrValue))
		return false
	}
}

// readHopCount reads the length of a chain as that many unknown hops.
func readHopCount(r *wire.Reader) []uint64 {
	n := r.Varint()
	if n > MaxHops {
		r.Fail(fmt.Errorf("%d hops: %w", n, wire.ErrTooMany))
	}
	if n == 0 || n > MaxHops {
		return nil
	}
	return make([]uint64, n)
}
