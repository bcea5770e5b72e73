package lite

// Subscribe asks for the groups of a track, SUBSCRIBE (§8.1). It opens a
// subscribe stream.
type Subscribe struct {
	ID        uint64 // unique in the session, rising from 0
	Broadcast string // clean path; at most MaxPath bytes
	Track     string // opaque; at most MaxTrackName bytes
	Preferences
}

// Append appends the framed message.
func (m Subscribe) Append(b []byte, v Version) []byte {
	enc := v.Encoding()
	start := len(b)
	b = enc.AppendVarint(b, m.ID)
	b = enc.AppendString(b, m.Broadcast)
	b = enc.AppendString(b, m.Track)
	b = m.Preferences.append(b, v)
	return enc.PrefixLength(b, start)
}

// DecodeSubscribe decodes a body.
func DecodeSubscribe(body []byte, v Version) (m Subscribe, err error) {
	r := v.reader(body)
	m.ID = r.Varint()
	m.Broadcast = r.Path(MaxPath)
	m.Track = r.String(MaxTrackName)
	m.Preferences = readPreferences(&r, v)
	return m, finish(&r, "SUBSCRIBE")
}
