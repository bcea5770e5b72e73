package moqt

import "github.com/moqmesh/moqmesh/moq/wire"

// FetchOK accepts a fetch, FETCH_OK (§6.2). Its objects may come before it.
type FetchOK struct {
	RequestID  uint64 // of the fetch; up to 16
	EndOfTrack bool   // End is the end of the track
	End        End
	Params     Params     // on 14 with the group order
	Properties Properties // of the track; 16 and later
}

// End is the last object of a fetch, itself included.
type End struct {
	Group  uint64
	Object Optional[uint64] // absent = the last of the group; up to 19, written as far beyond any later
}

// append appends an end. Up to 19 the object is one past the last, 0 standing
// for the whole group.
func (e End) append(b []byte, v Version) []byte {
	enc := v.Encoding()
	b = enc.AppendVarint(b, e.Group)
	if v <= Draft19 {
		return enc.AppendOptional(b, e.Object.V, e.Object.OK)
	}
	return enc.AppendVarint(b, e.Object.or(wire.MaxVarint))
}

func (r *reader) end() (e End) {
	e.Group = r.id()
	if r.d.Version >= Draft20 {
		e.Object = Some(r.id())
		return e
	}
	if n := r.id(); n > 0 {
		e.Object = Some(n - 1)
	}
	return e
}

// Append appends the framed message.
func (m FetchOK) Append(b []byte, d Dialect) []byte {
	b, start := openMessage(b, d, typeFetchOK)
	b = d.appendAnswerID(b, m.RequestID)
	if d.Version == Draft14 {
		b = append(b, byte(m.Params.GroupOrder))
	}
	b = m.End.append(wire.AppendBool(b, m.EndOfTrack), d.Version)
	b = d.appendParams(b, m.Params)
	return closeMessage(d.appendTrackProperties(b, m.Properties), start)
}

func decodeFetchOK(r *reader) Message {
	m := FetchOK{RequestID: r.answerID()}
	var order GroupOrder
	if r.d.Version == Draft14 {
		order = r.inlineOrder()
	}
	m.EndOfTrack, m.End = r.Bool(), r.end()
	m.Params = r.params(nil)
	if r.d.Version == Draft14 {
		m.Params.GroupOrder = order
	}
	m.Properties = r.trackProperties()
	return m
}
