package synthetic

import (
	"encoding/binary"
	"time"
)

// StampSize is how many bytes of a payload a stamp takes.
const StampSize = 8

// Stamp writes t over the beginning of payload: nanoseconds since 1970, 8 bytes,
// big-endian.
func Stamp(payload []byte, t time.Time) {
	binary.BigEndian.PutUint64(payload, uint64(t.UnixNano()))
}

// plausible is how far a stamp may be from now. It is narrow enough that other
// payloads are practically never taken for stamped ones, and wide enough for
// clocks that disagree.
const plausible = time.Hour

// Sent reads the stamp of a payload; ok is false for one that has none. The time
// is by the sender's clock, and may be ahead of now.
func Sent(payload []byte, now time.Time) (sent time.Time, ok bool) {
	if len(payload) < StampSize {
		return time.Time{}, false
	}
	sent = time.Unix(0, int64(binary.BigEndian.Uint64(payload)))
	return sent, now.Sub(sent).Abs() <= plausible
}
