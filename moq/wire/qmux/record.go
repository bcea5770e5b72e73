package qmux

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// AppendRecord appends a record for a byte stream, where V01 and later put the
// size in front of the frames. Over WebSocket the message is the record.
func AppendRecord(b, frames []byte) []byte { return wire.QUIC.AppendBytes(b, frames) }

// ParseRecord takes one record of at most limit bytes from the front of b and
// returns its frames, which alias b, and how many bytes it took. n is 0 when b
// ends before the record does.
func ParseRecord(b []byte, limit int) (frames []byte, n int, err error) {
	size, head, err := wire.QUIC.Parse(b)
	switch {
	case err != nil || head == 0:
		return nil, 0, err
	case size > uint64(limit):
		return nil, 0, fmt.Errorf("record of %d bytes, limit %d: %w", size, limit, wire.ErrTooLarge)
	case size > uint64(len(b)-head):
		return nil, 0, nil
	}
	n = head + int(size)
	return b[head:n:n], n, nil
}
