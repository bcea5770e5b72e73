package lite

// AnnounceInit is the initial set of an announce stream on 01 and 02,
// ANNOUNCE_INIT (§18.1). [Announce] messages follow it.
type AnnounceInit struct {
	Suffixes []string // below the requested prefix, clean; at most MaxInit
}

// Append appends the framed message.
func (m AnnounceInit) Append(b []byte, v Version) []byte {
	enc := v.Encoding()
	start := len(b)
	b = enc.AppendVarint(b, uint64(len(m.Suffixes)))
	for _, s := range m.Suffixes {
		b = enc.AppendString(b, s)
	}
	return enc.PrefixLength(b, start)
}

// DecodeAnnounceInit decodes a body of at most MaxMessage bytes.
func DecodeAnnounceInit(body []byte, v Version) (m AnnounceInit, err error) {
	r := v.reader(body)
	for range r.Count(MaxInit) {
		m.Suffixes = append(m.Suffixes, r.Path(MaxPath))
	}
	return m, finish(&r, "ANNOUNCE_INIT")
}
