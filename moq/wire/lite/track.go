package lite

// Track asks for the properties of a track, TRACK (§7). It opens a track
// stream, answered by one [TrackInfo]. 05 and later.
type Track struct {
	Broadcast string // clean path; at most MaxPath bytes
	Name      string // opaque; at most MaxTrackName bytes
}

// Append appends the framed message.
func (m Track) Append(b []byte, v Version) []byte {
	enc := v.Encoding()
	start := len(b)
	b = enc.AppendString(b, m.Broadcast)
	b = enc.AppendString(b, m.Name)
	return enc.PrefixLength(b, start)
}

// DecodeTrack decodes a body.
func DecodeTrack(body []byte, v Version) (m Track, err error) {
	r := v.reader(body)
	m.Broadcast = r.Path(MaxPath)
	m.Name = r.String(MaxTrackName)
	return m, finish(&r, "TRACK")
}
