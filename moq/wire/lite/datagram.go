package lite

// Datagram is a whole group of one frame in a QUIC datagram (§9.2). 05 and later.
type Datagram struct {
	Subscribe uint64 // id of the subscription it belongs to
	Sequence  uint64 // of the group in its track
	Timestamp uint64 // absolute, in the track's timescale
	Payload   []byte
}

// Append appends the datagram, which has no length around it.
func (m Datagram) Append(b []byte, v Version) []byte {
	enc := v.Encoding()
	b = enc.AppendVarint(b, m.Subscribe)
	b = enc.AppendVarint(b, m.Sequence)
	b = enc.AppendVarint(b, m.Timestamp)
	return append(b, m.Payload...)
}

// DecodeDatagram decodes a datagram. Payload aliases b.
func DecodeDatagram(b []byte, v Version) (m Datagram, err error) {
	r := v.reader(b)
	m.Subscribe = r.Varint()
	m.Sequence = r.Varint()
	m.Timestamp = r.Varint()
	m.Payload = r.Rest()
	return m, finish(&r, "datagram")
}
