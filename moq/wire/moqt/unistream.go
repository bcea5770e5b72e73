package moqt

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// UniStream is what a unidirectional stream is there for (§5.1). Its values are
// ours; on the wire the first varint tells it, which is part of the header that
// follows.
type UniStream uint8

// The unidirectional streams.
const (
	UniSubgroup UniStream = iota + 1 // [ParseSubgroupHeader]
	UniFetch                         // [ParseFetchHeader]
	UniSetup                         // [ReadMessage]; 17 and later
	UniPadding                       // to be read to its end and dropped; 18 and later
)

// First varints of unidirectional streams, and of a datagram of padding.
const (
	streamFetch     = 0x05
	streamPadding   = 0x132b3e28
	datagramPadding = 0x132b3e29
)

// ParseUniStream tells what a stream that starts with b is. It takes nothing:
// the header starts with b as well. ok is false when b ends before the first
// varint does. A type the draft does not have is wire.ErrValue, which ends the
// session.
func ParseUniStream(b []byte, v Version) (kind UniStream, ok bool, err error) {
	t, n, err := v.Encoding().Parse(b)
	if n == 0 || err != nil {
		return 0, false, err
	}
	switch {
	case t == streamFetch:
		kind = UniFetch
	case isSubgroup(t, v):
		kind = UniSubgroup
	case t == uint64(typeSetup) && v >= Draft17:
		kind = UniSetup
	case t == streamPadding && v >= Draft18:
		kind = UniPadding
	default:
		return 0, false, fmt.Errorf("stream type %#x: %w", t, wire.ErrValue)
	}
	return kind, true, nil
}
