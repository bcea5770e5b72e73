package moqt

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// RequestUpdate changes a request: SUBSCRIBE_UPDATE up to 15, REQUEST_UPDATE
// later (§6.2). It takes a request id of its own. A parameter that is absent
// stays as it was, but for the priority, the forward flag and the filter on 14,
// which always are there.
type RequestUpdate struct {
	RequestID uint64
	Existing  uint64 // the request it changes; up to 16, later its stream tells
	Params    Params // on 14 a filter other than FilterAbsolute is written as everything
}

// Append appends the framed message.
func (m RequestUpdate) Append(b []byte, d Dialect) []byte {
	b, start := openMessage(b, d, typeRequestUpdate)
	b = d.appendRequestID(b, m.RequestID)
	b = d.appendAnswerID(b, m.Existing)
	if d.Version == Draft14 {
		b = m.Params.appendRange(b)
		b = append(b, m.Params.Priority.or(DefaultPriority))
		b = wire.AppendBool(b, m.Params.Forward.or(true))
	}
	return closeMessage(d.appendParams(b, m.Params), start)
}

// appendRange appends the filter as 14 has it in updates: a start, and an end
// group that is 0 for none, else one more than the group.
func (p Params) appendRange(b []byte) []byte {
	f := p.Filter.V
	if f.Kind != FilterAbsolute {
		f = Filter{}
	}
	return wire.QUIC.AppendOptional(f.Start.append(b, wire.QUIC), f.EndGroup.V, f.EndGroup.OK)
}

func decodeRequestUpdate(r *reader) Message {
	m := RequestUpdate{RequestID: r.requestID(), Existing: r.answerID()}
	if r.d.Version != Draft14 {
		m.Params = r.params(nil)
		return m
	}
	filter, priority, forward := r.rangeFilter(), r.Uint8(), r.Bool()
	m.Params = r.params(nil)
	m.Params.Filter, m.Params.Priority, m.Params.Forward = Some(filter), Some(priority), Some(forward)
	return m
}

func (r *reader) rangeFilter() Filter {
	f := Filter{Kind: FilterAbsolute, Start: r.location()}
	f.EndGroup.V, f.EndGroup.OK = r.Optional()
	if f.EndGroup.OK && f.EndGroup.V < f.Start.Group {
		r.Fail(fmt.Errorf("range of groups %d to %d: %w", f.Start.Group, f.EndGroup.V, wire.ErrValue))
	}
	return f
}
