package moqt

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Fetch asks for past objects of a track, FETCH (§6.2). They come on one
// unidirectional stream; see [FetchObjects].
type Fetch struct {
	RequestID uint64
	Kind      FetchKind
	Track     Track // of FetchStandalone
	// Range is what a FetchStandalone asks for, both ends included: a
	// FilterAbsolute with an end group up to 19, any filter later, where the zero
	// value is the whole track.
	Range Filter
	// Joining is the request id of the subscription that the other kinds join.
	Joining uint64
	// Group is where they start: groups back from the largest, or the group. They
	// end at the subscription's largest object.
	Group  uint64
	Params Params // without a filter
}

// FetchKind says how a [Fetch] names what it wants. From 20 on there is only
// FetchStandalone.
type FetchKind uint8

// The kinds of fetch, as they are numbered on the wire up to 19.
const (
	FetchStandalone      FetchKind = iota + 1 // a range of a track
	FetchRelativeJoining                      // some groups back from a subscription's start
	FetchAbsoluteJoining                      // from a group on to a subscription's start
)

// Append appends the framed message.
func (m Fetch) Append(b []byte, d Dialect) []byte {
	enc := d.Version.Encoding()
	b, start := openMessage(b, d, typeFetch)
	b = d.appendRequestID(b, m.RequestID)
	p := m.Params
	p.Filter = Optional[Filter]{}
	if d.Version == Draft14 {
		b = append(b, p.Priority.or(DefaultPriority), byte(p.GroupOrder))
	}
	switch {
	case d.Version >= Draft20:
		b = m.Track.append(b, enc)
		p.Filter = Optional[Filter]{m.Range, m.Range.Kind != FilterNone}
	case m.Kind == FetchStandalone:
		b = m.Track.append(enc.AppendVarint(b, uint64(m.Kind)), enc)
		b = m.Range.end().append(m.Range.Start.append(b, enc), d.Version)
	default:
		b = enc.AppendVarint(b, uint64(m.Kind))
		b = enc.AppendVarint(enc.AppendVarint(b, m.Joining), m.Group)
	}
	return closeMessage(d.appendParams(b, p), start)
}

func decodeFetch(r *reader) Message {
	m := Fetch{RequestID: r.requestID(), Kind: FetchStandalone}
	if r.d.Version >= Draft20 {
		m.Track = r.track()
		m.Params = r.params(nil)
		m.Range = m.Params.Filter.V
	} else {
		m.readBody(r)
	}
	m.Params.Filter = Optional[Filter]{}
	return m
}

// readBody reads what follows the request id up to 19.
func (m *Fetch) readBody(r *reader) {
	var priority Optional[uint8]
	var order GroupOrder
	if r.d.Version == Draft14 {
		priority, order = Some(r.Uint8()), r.inlineOrder()
	}
	switch kind := r.Varint(); kind {
	case uint64(FetchStandalone):
		m.Track = r.track()
		m.Range = Filter{Kind: FilterAbsolute, Start: r.location()}
		m.Range.setEnd(r.end())
	case uint64(FetchRelativeJoining), uint64(FetchAbsoluteJoining):
		m.Kind, m.Joining, m.Group = FetchKind(kind), r.Varint(), r.id()
	default:
		r.Fail(fmt.Errorf("fetch type %d: %w", kind, wire.ErrValue))
	}
	m.Params = r.params(nil)
	if r.d.Version == Draft14 {
		m.Params.Priority, m.Params.GroupOrder = priority, order
	}
}

// end returns where a filter ends; without an end group far beyond any group.
func (f Filter) end() End {
	return End{Group: f.EndGroup.or(wire.MaxVarint), Object: f.EndObject}
}

func (f *Filter) setEnd(e End) { f.EndGroup, f.EndObject = Some(e.Group), e.Object }
