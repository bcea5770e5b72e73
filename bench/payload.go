package bench

import (
	"encoding/binary"
	"time"
)

// stampBytes is the size of a stamp, and the smallest frame.
const stampBytes = 16

// stamp is what the first bytes of each frame say, big-endian: its number and
// when it was due, in nanoseconds since the publisher's clock began.
type stamp struct {
	number uint64
	due    time.Duration
}

// put writes the stamp over the start of a frame.
func (s stamp) put(frame []byte) {
	binary.BigEndian.PutUint64(frame, s.number)
	binary.BigEndian.PutUint64(frame[8:], uint64(s.due))
}

// readStamp is put's inverse; frame holds at least stampBytes.
func readStamp(frame []byte) stamp {
	return stamp{
		number: binary.BigEndian.Uint64(frame),
		due:    time.Duration(binary.BigEndian.Uint64(frame[8:])),
	}
}
