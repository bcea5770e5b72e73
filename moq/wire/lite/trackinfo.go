package lite

import (
	"fmt"
	"time"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// TrackInfo is what a publisher says of a track, TRACK_INFO (§7). It holds for
// the life of the track. 05 and later.
type TrackInfo struct {
	Priority  uint8         // among the broadcast's tracks; higher is more urgent
	MaxAge    time.Duration // media time behind the live edge that a group is kept
	Timescale uint64        // units of frame timestamps per second; never 0
}

// Append appends the framed message.
func (m TrackInfo) Append(b []byte, v Version) []byte {
	enc := v.Encoding()
	start := len(b)
	b = append(b, m.Priority)
	b = appendOrdered(b, v)
	b = appendMillis(b, v, m.MaxAge)
	b = enc.AppendVarint(b, m.Timescale)
	return enc.PrefixLength(b, start)
}

// DecodeTrackInfo decodes a body. A timescale of 0 is wire.ErrValue.
func DecodeTrackInfo(body []byte, v Version) (m TrackInfo, err error) {
	r := v.reader(body)
	m.Priority = r.Uint8()
	skipOrdered(&r, v)
	m.MaxAge = readMillis(&r)
	if m.Timescale = r.Varint(); m.Timescale == 0 {
		r.Fail(fmt.Errorf("timescale 0: %w", wire.ErrValue))
	}
	return m, finish(&r, "TRACK_INFO")
}
