package lite

// Goaway asks the peer to move to another session, GOAWAY (§12). It is all of a
// goaway stream, then FIN; once in each direction. 04 and later.
type Goaway struct {
	URI string // where to; at most MaxGoawayURI bytes; empty = nowhere in particular
}

// Append appends the framed message.
func (m Goaway) Append(b []byte, v Version) []byte {
	enc := v.Encoding()
	start := len(b)
	b = enc.AppendString(b, m.URI)
	return enc.PrefixLength(b, start)
}

// DecodeGoaway decodes a body.
func DecodeGoaway(body []byte, v Version) (m Goaway, err error) {
	r := v.reader(body)
	m.URI = r.String(MaxGoawayURI)
	return m, finish(&r, "GOAWAY")
}
