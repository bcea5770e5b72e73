package moqt

import "time"

// Goaway asks the peer to move to another server, or on a request's stream to
// make that request elsewhere; GOAWAY (§6.2).
type Goaway struct {
	URI     string        // where to; empty = the same place. A client leaves it empty
	Timeout time.Duration // until the sender closes; 0 = it does not say; 17 and later
	// RequestID is the first request that will not be served; on the setup
	// stream of 18 only.
	RequestID Optional[uint64]
}

// Append appends the framed message.
func (m Goaway) Append(b []byte, d Dialect) []byte {
	enc := d.Version.Encoding()
	b, start := openMessage(b, d, typeGoaway)
	b = enc.AppendString(b, m.URI)
	if d.Version >= Draft17 {
		b = enc.AppendVarint(b, millis(m.Timeout))
	}
	if d.Version == Draft18 && m.RequestID.OK {
		b = enc.AppendVarint(b, m.RequestID.V)
	}
	return closeMessage(b, start)
}

func decodeGoaway(r *reader) Message {
	m := Goaway{URI: r.String(MaxURI)}
	if r.d.Version >= Draft17 {
		m.Timeout = duration(r.Varint())
	}
	if r.d.Version == Draft18 && r.Len() > 0 {
		m.RequestID = Some(r.Varint())
	}
	return m
}
