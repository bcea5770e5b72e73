package lite

// AnnounceOK is a publisher's first message on an announce stream, ANNOUNCE_OK
// (§6.2). 05 and later.
type AnnounceOK struct {
	Hop    uint64 // the publisher's own hop id, last of every chain on this stream; 0 = withheld
	Active uint64 // how many announcements follow at once as the initial set; a hint
}

// Append appends the framed message.
func (m AnnounceOK) Append(b []byte, v Version) []byte {
	enc := v.Encoding()
	start := len(b)
	b = enc.AppendVarint(b, m.Hop)
	b = enc.AppendVarint(b, m.Active)
	return enc.PrefixLength(b, start)
}

// DecodeAnnounceOK decodes a body.
func DecodeAnnounceOK(body []byte, v Version) (m AnnounceOK, err error) {
	r := v.reader(body)
	m.Hop = r.Varint()
	m.Active = r.Varint()
	return m, finish(&r, "ANNOUNCE_OK")
}
