package lite

// SubscribeEnd says where the track ends, SUBSCRIBE_END (§8.3). Sent once, as
// soon as the final sequence is known. 05 and later.
type SubscribeEnd struct {
	Group   uint64 // sequence after the last; 0 = nothing was produced
	Streams uint64 // group streams opened for the subscription; 07
}

// Append appends the framed message.
func (m SubscribeEnd) Append(b []byte, v Version) []byte {
	enc := v.Encoding()
	b = AnswerEnd.appendType(b, v)
	start := len(b)
	b = enc.AppendVarint(b, m.Group)
	if v.hasStreamCount() {
		b = enc.AppendVarint(b, m.Streams)
	}
	return enc.PrefixLength(b, start)
}

// DecodeSubscribeEnd decodes a body.
func DecodeSubscribeEnd(body []byte, v Version) (m SubscribeEnd, err error) {
	r := v.reader(body)
	m.Group = r.Varint()
	if v.hasStreamCount() {
		m.Streams = r.Varint()
	}
	return m, finish(&r, "SUBSCRIBE_END")
}

func (v Version) hasStreamCount() bool { return v >= V07WIP }
