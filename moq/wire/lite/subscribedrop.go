package lite

// SubscribeDrop accounts for groups that will not be served, SUBSCRIBE_DROP
// (§8.3). 03 to 06.
type SubscribeDrop struct {
	First uint64 // sequence
	Last  uint64 // sequence, inclusive
	Code  uint64 // stream error code that says why
}

// Append appends the framed message.
func (m SubscribeDrop) Append(b []byte, v Version) []byte {
	enc := v.Encoding()
	b = AnswerDrop.appendType(b, v)
	start := len(b)
	b = enc.AppendVarint(b, m.First)
	b = enc.AppendVarint(b, m.Last)
	b = enc.AppendVarint(b, m.Code)
	return enc.PrefixLength(b, start)
}

// DecodeSubscribeDrop decodes a body.
func DecodeSubscribeDrop(body []byte, v Version) (m SubscribeDrop, err error) {
	r := v.reader(body)
	m.First = r.Varint()
	m.Last = r.Varint()
	m.Code = r.Varint()
	return m, finish(&r, "SUBSCRIBE_DROP")
}
