package lite

// BidiStream is the type of a bidirectional stream, its first varint (§4).
type BidiStream uint64

// The bidirectional stream types. A subscriber opens them, but for goaway,
// which either side does.
const (
	StreamSession   BidiStream = 0 // never opened this way; refuse
	StreamAnnounce  BidiStream = 1
	StreamSubscribe BidiStream = 2
	StreamFetch     BidiStream = 3
	StreamProbe     BidiStream = 4
	StreamGoaway    BidiStream = 5
	StreamTrack     BidiStream = 6
)

// Append appends the type, which goes before anything else on the stream.
func (t BidiStream) Append(b []byte, v Version) []byte {
	return v.Encoding().AppendVarint(b, uint64(t))
}

// In reports whether a peer may open a stream of this type on that version. A
// stream for which it may not is reset; the session lives.
func (t BidiStream) In(v Version) bool {
	switch t {
	case StreamAnnounce, StreamSubscribe:
		return true
	case StreamFetch:
		return v.HasFetch()
	case StreamProbe:
		return v.HasProbe()
	case StreamGoaway:
		return v.HasGoaway()
	case StreamTrack:
		return v.HasTrackInfo()
	default:
		return false
	}
}

// UniStream is the type of a unidirectional stream, its first varint (§4).
type UniStream uint64

// The unidirectional stream types.
const (
	StreamGroup UniStream = 0 // by the publisher
	StreamSetup UniStream = 1 // by each side, once
)

// Append appends the type, which goes before anything else on the stream.
func (t UniStream) Append(b []byte, v Version) []byte {
	return v.Encoding().AppendVarint(b, uint64(t))
}

// In reports whether a peer may open a stream of this type on that version.
func (t UniStream) In(v Version) bool {
	return t == StreamGroup || t == StreamSetup && v.HasSetup()
}
