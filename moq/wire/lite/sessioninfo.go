package lite

// SessionInfo reports what a publisher can send, SESSION_INFO (§18.1). It goes
// on the stream that carried the SETUP negotiation. 01 and 02.
type SessionInfo struct {
	Bitrate uint64 // bit/s; 0 = unknown
}

// Append appends the framed message.
func (m SessionInfo) Append(b []byte, v Version) []byte {
	start := len(b)
	b = v.Encoding().AppendVarint(b, m.Bitrate)
	return v.Encoding().PrefixLength(b, start)
}

// DecodeSessionInfo decodes a body.
func DecodeSessionInfo(body []byte, v Version) (m SessionInfo, err error) {
	r := v.reader(body)
	m.Bitrate = r.Varint()
	return m, finish(&r, "SESSION_INFO")
}
