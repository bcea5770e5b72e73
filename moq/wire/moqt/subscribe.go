package moqt

import "github.com/moqmesh/moqmesh/moq/wire"

// Subscribe asks for a track, SUBSCRIBE (§6.2).
type Subscribe struct {
	RequestID uint64
	Track     Track
	// Params have priority, forward, filter and group order in every draft.
	Params Params
}

// TrackStatus asks how far a track is, TRACK_STATUS. Its body is that of
// SUBSCRIBE, its answer a [RequestOK] with the largest location.
type TrackStatus Subscribe

// Append appends the framed message.
func (m Subscribe) Append(b []byte, d Dialect) []byte { return m.append(b, d, typeSubscribe) }

// Append appends the framed message.
func (m TrackStatus) Append(b []byte, d Dialect) []byte {
	return Subscribe(m).append(b, d, typeTrackStatus)
}

func (m Subscribe) append(b []byte, d Dialect, t Type) []byte {
	b, start := openMessage(b, d, t)
	b = d.appendRequestID(b, m.RequestID)
	b = m.Track.append(b, d.Version.Encoding())
	if p := m.Params; d.Version == Draft14 {
		b = append(b, p.Priority.or(DefaultPriority), byte(p.GroupOrder))
		b = wire.AppendBool(b, p.Forward.or(true))
		b = p.Filter.V.appendTagged(b, d.Version)
	}
	return closeMessage(d.appendParams(b, m.Params), start)
}

func decodeSubscribe(r *reader) Message   { return r.subscribe() }
func decodeTrackStatus(r *reader) Message { return TrackStatus(r.subscribe()) }

func (r *reader) subscribe() (m Subscribe) {
	m.RequestID = r.requestID()
	m.Track = r.track()
	if r.d.Version != Draft14 {
		m.Params = r.params(nil)
		return m
	}
	priority, order, forward, filter := r.Uint8(), r.inlineOrder(), r.Bool(), r.taggedFilter()
	m.Params = r.params(nil)
	m.Params.Priority, m.Params.Forward, m.Params.Filter = Some(priority), Some(forward), Some(filter)
	m.Params.GroupOrder = order
	return m
}

// inlineOrder reads the group order that 14 has as a field.
func (r *reader) inlineOrder() GroupOrder { return r.checkOrder(uint64(r.Uint8())) }
