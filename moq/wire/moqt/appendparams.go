package moqt

import (
	"time"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// paramWriter appends the parameters of one message, upwards by number.
type paramWriter struct {
	*pairs
	d Dialect
}

// appendParams appends a parameter block.
func (d Dialect) appendParams(b []byte, p Params) []byte {
	w := paramWriter{countedPairs(b, d.Version), d}
	w.millis(paramDeliveryTimeout, p.DeliveryTimeout)
	w.tokens(p.Tokens)
	if d.Version <= Draft15 {
		w.millis(paramMaxCacheDuration, p.MaxCacheDuration)
	} else {
		w.millis(paramRendezvousTimeout, p.RendezvousTimeout)
	}
	w.millis(paramSubgroupDeliveryTimeout, p.SubgroupDeliveryTimeout)
	w.millis(paramExpires, p.Expires)
	w.largest(p.Largest)
	w.millis(paramFillTimeout, p.FillTimeout)
	w.octet(paramPublisherPriority, p.PublisherPriority)
	w.flag(paramForward, p.Forward)
	w.octet(paramPriority, p.Priority)
	w.filter(p.Filter)
	w.octet(paramGroupOrder, Optional[uint8]{uint8(p.GroupOrder), p.GroupOrder != 0})
	w.fill(p.Fill)
	w.ranges(p.Ranges)
	w.varint(paramNewGroup, p.NewGroup)
	w.prefix(p.Prefix)
	w.includeProperties(p.IncludeProperties)
	w.hopPath(p.HopPath)
	w.varint(paramRouteCost, p.RouteCost)
	w.varint(paramHidden, Optional[uint64]{1, p.Hidden})
	return w.b
}

func (w paramWriter) varint(id uint64, n Optional[uint64]) {
	if n.OK && w.d.hasParam(id) {
		w.number(id, n.V)
	}
}

func (w paramWriter) millis(id uint64, d Optional[time.Duration]) {
	w.varint(id, Optional[uint64]{millis(d.V), d.OK})
}

// octet appends a number below 256: a varint like any other up to 16, then a
// plain byte.
func (w paramWriter) octet(id uint64, n Optional[uint8]) {
	switch {
	case !n.OK || !w.d.hasParam(id):
	case w.d.Version.hasTypedParams():
		w.start(id)
		w.b = append(w.b, n.V)
	default:
		w.number(id, uint64(n.V))
	}
}

func (w paramWriter) flag(id uint64, f Optional[bool]) {
	n := Optional[uint8]{OK: f.OK}
	if f.V {
		n.V = 1
	}
	w.octet(id, n)
}

func (w paramWriter) tokens(ts []Token) {
	for _, t := range ts {
		w.nested(paramToken, func(b []byte) []byte { return t.append(b, w.enc) })
	}
}

func (w paramWriter) largest(l Optional[Location]) {
	switch {
	case !l.OK || !w.d.hasParam(paramLargest):
	case w.d.Version.hasTypedParams() && !w.d.prefixed():
		w.start(paramLargest)
		w.b = l.V.append(w.b, w.enc)
	default:
		w.nested(paramLargest, func(b []byte) []byte { return l.V.append(b, w.enc) })
	}
}

func (w paramWriter) filter(f Optional[Filter]) {
	switch {
	case !f.OK || !w.d.hasParam(paramFilter):
	case w.d.Version >= Draft22:
		w.start(paramFilter)
		w.b = f.V.appendTyped(w.b, w.enc)
	case w.d.Version >= Draft20:
		w.nested(paramFilter, func(b []byte) []byte { return f.V.appendCounted(b, w.enc) })
	default:
		w.nested(paramFilter, func(b []byte) []byte { return f.V.appendTagged(b, w.d.Version) })
	}
}

func (w paramWriter) fill(f *Fill) {
	if f != nil && w.d.hasParam(paramFill) {
		w.nested(paramFill, func(b []byte) []byte { return w.d.appendParams(b, f.params()) })
	}
}

// ranges appends the range filters, kind by kind.
func (w paramWriter) ranges(fs []RangeFilter) {
	for kind := RangeSubgroup; kind <= RangeTrackProperty; kind++ {
		for _, f := range fs {
			if f.Kind == kind && w.d.hasParam(uint64(kind)) {
				w.nested(uint64(kind), func(b []byte) []byte { return append(b, f.Value...) })
			}
		}
	}
}

func (w paramWriter) prefix(ns Optional[TrackNamespace]) {
	if ns.OK && w.d.hasParam(paramPrefix) {
		w.start(paramPrefix)
		w.b = ns.V.append(w.b, w.enc)
	}
}

func (w paramWriter) includeProperties(f Optional[bool]) {
	if f.OK && w.d.prefixed() && w.d.hasParam(paramIncludeProperties) {
		w.start(paramIncludeProperties)
		w.b = wire.AppendBool(append(w.b, 1), f.V)
		return
	}
	w.flag(paramIncludeProperties, f)
}

func (w paramWriter) hopPath(hops []uint64) {
	if hops != nil && w.d.hasParam(paramHopPath) {
		w.nested(paramHopPath, func(b []byte) []byte { return appendHops(b, w.enc, hops) })
	}
}
