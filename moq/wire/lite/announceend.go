package lite

// AnnounceEnd withdraws an announcement and retires its id for good,
// ANNOUNCE_END (§6.4). 06-wip and later.
type AnnounceEnd struct {
	ID uint64 // announce id
}

// Append appends the framed message.
func (m AnnounceEnd) Append(b []byte, v Version) []byte {
	enc := v.Encoding()
	b = enc.AppendVarint(b, uint64(TypeAnnounceEnd))
	start := len(b)
	b = enc.AppendVarint(b, m.ID)
	return enc.PrefixLength(b, start)
}

// DecodeAnnounceEnd decodes a body.
func DecodeAnnounceEnd(body []byte, v Version) (m AnnounceEnd, err error) {
	r := v.reader(body)
	m.ID = r.Varint()
	return m, finish(&r, "ANNOUNCE_END")
}
