package moq

import (
	"math/bits"
	"time"
)

// Frame is one timed payload.
type Frame struct {
	// Timestamp is in units of the track's timescale, 0 … 2^62-1.
	Timestamp uint64
	// Payload belongs to the receiver of a read, and is not kept by a write.
	Payload []byte
}

// Datagram is a group of one frame that travels outside streams, unreliably.
type Datagram struct {
	Sequence  uint64 // shares the number space of the track's groups
	Timestamp uint64 // as Frame.Timestamp
	Payload   []byte // shared by all readers: do not change it
}

// TrackInfo is what a publisher says of a track; it is fixed for the track's life.
type TrackInfo struct {
	// Priority is the publisher's wish, higher = more urgent. Relays pass it on.
	Priority uint8
	// MaxAge is how far behind the live edge, in media time, a group is kept.
	// Zero keeps the live edge only.
	MaxAge time.Duration
	// Timescale is the number of timestamp units in a second, 1 … 2^62-1.
	Timescale uint64
}

// DefaultTrackInfo is what readers assume of tracks whose wire carries no info
// (moq-lite.md §7).
var DefaultTrackInfo = TrackInfo{Priority: 127, MaxAge: 5 * time.Second, Timescale: 1000}

// units converts d to timestamp units, saturating.
func (i TrackInfo) units(d time.Duration) uint64 {
	hi, lo := bits.Mul64(uint64(max(d, 0)), i.Timescale)
	if hi >= uint64(time.Second) {
		return 1<<64 - 1
	}
	n, _ := bits.Div64(hi, lo, uint64(time.Second))
	return n
}
