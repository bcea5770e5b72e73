package lite

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Fetch asks for one group, FETCH (§10). It opens a fetch stream, which the
// frames of the group answer. 03 and later, in use from 05.
type Fetch struct {
	Broadcast  string   // clean path; at most MaxPath bytes
	Track      string   // opaque; at most MaxTrackName bytes
	Priority   uint8    // higher is more urgent
	Group      uint64   // sequence
	FrameStart uint64   // first frame wanted; 06 and later
	FrameEnd   Optional // last frame wanted, not below FrameStart; absent = all; 06 and later
}

// Append appends the framed message.
func (m Fetch) Append(b []byte, v Version) []byte {
	enc := v.Encoding()
	start := len(b)
	b = enc.AppendString(b, m.Broadcast)
	b = enc.AppendString(b, m.Track)
	b = append(b, m.Priority)
	b = enc.AppendVarint(b, m.Group)
	if v.HasFrameBounds() {
		b = enc.AppendVarint(b, m.FrameStart)
		b = m.FrameEnd.append(b, v)
	}
	return enc.PrefixLength(b, start)
}

// DecodeFetch decodes a body.
func DecodeFetch(body []byte, v Version) (m Fetch, err error) {
	r := v.reader(body)
	m.Broadcast = r.Path(MaxPath)
	m.Track = r.String(MaxTrackName)
	m.Priority = r.Uint8()
	m.Group = r.Varint()
	if v.HasFrameBounds() {
		m.FrameStart = r.Varint()
		m.FrameEnd = readOptional(&r)
	}
	if m.FrameEnd.OK && m.FrameEnd.V < m.FrameStart {
		r.Fail(fmt.Errorf("frames %d to %d: %w", m.FrameStart, m.FrameEnd.V, wire.ErrValue))
	}
	return m, finish(&r, "FETCH")
}
