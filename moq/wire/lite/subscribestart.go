package lite

// SubscribeStart names the first group that will be served, SUBSCRIBE_START
// (§8.3). Groups below it are dropped. Sent once; never for an empty track. 05
// and later.
type SubscribeStart struct {
	Group uint64 // sequence
}

// Append appends the framed message.
func (m SubscribeStart) Append(b []byte, v Version) []byte {
	b = AnswerStart.appendType(b, v)
	start := len(b)
	b = v.Encoding().AppendVarint(b, m.Group)
	return v.Encoding().PrefixLength(b, start)
}

// DecodeSubscribeStart decodes a body.
func DecodeSubscribeStart(body []byte, v Version) (m SubscribeStart, err error) {
	r := v.reader(body)
	m.Group = r.Varint()
	return m, finish(&r, "SUBSCRIBE_START")
}
