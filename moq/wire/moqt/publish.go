package moqt

import "github.com/moqmesh/moqmesh/moq/wire"

// Publish offers a track that nobody asked for, PUBLISH (§6.2).
type Publish struct {
	RequestID uint64
	Track     Track
	Alias     uint64 // stands for the track in headers and datagrams of the session
	// Params have largest and forward in every draft, on 14 and 15 the group
	// order as well.
	Params     Params
	Properties Properties // of the track; 16 and later
}

// Append appends the framed message.
func (m Publish) Append(b []byte, d Dialect) []byte {
	enc := d.Version.Encoding()
	b, start := openMessage(b, d, typePublish)
	b = d.appendRequestID(b, m.RequestID)
	b = m.Track.append(b, enc)
	b = enc.AppendVarint(b, m.Alias)
	if d.Version == Draft14 {
		b = wire.AppendBool(m.Params.appendContent(b), m.Params.Forward.or(true))
	}
	b = d.appendParams(b, m.Params)
	return closeMessage(d.appendTrackProperties(b, m.Properties), start)
}

func decodePublish(r *reader) Message {
	m := Publish{RequestID: r.requestID(), Track: r.track(), Alias: r.Varint()}
	if r.d.Version == Draft14 {
		order, largest := r.content()
		forward := r.Bool()
		m.Params = r.params(nil)
		m.Params.GroupOrder, m.Params.Largest, m.Params.Forward = order, largest, Some(forward)
	} else {
		m.Params = r.params(nil)
	}
	m.Properties = r.trackProperties()
	return m
}
