package lite

import (
	"fmt"
	"io"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// AnnounceType says which announcement a message is, from 06-wip on (§6.4).
type AnnounceType uint64

// The announcement types.
const (
	TypeAnnounceStart  AnnounceType = 0
	TypeAnnounceEnd    AnnounceType = 1
	TypeAnnounceUpdate AnnounceType = 2
)

// ReadAnnounce reads the next announcement of an announce stream on a version
// with announce ids. Unknown types are skipped, which take no id; on 06-wip
// they are wire.ErrValue. io.EOF is the publisher's clean end. For buf see
// [wire.ReadMessage].
func ReadAnnounce(r wire.ByteReader, v Version, buf []byte) (AnnounceType, []byte, error) {
	for {
		n, err := readType(r, v)
		if err != nil {
			return 0, nil, err
		}
		if t := AnnounceType(n); t <= TypeAnnounceUpdate {
			body, err := readTypedBody(r, v, MaxRequest, buf)
			return t, body, err
		}
		if v == V06WIP {
			return 0, nil, fmt.Errorf("announcement type %d: %w", n, wire.ErrValue)
		}
		if err := skipMessage(r, v); err != nil {
			return 0, nil, err
		}
	}
}

// skipMessage drops one message of a type we do not know.
func skipMessage(r wire.ByteReader, v Version) error {
	n, err := v.Encoding().ReadVarint(r)
	if err == nil && n > MaxMessage {
		return fmt.Errorf("unknown message of %d bytes: %w", n, wire.ErrTooLarge)
	}
	if err == nil {
		_, err = io.CopyN(io.Discard, r, int64(n))
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
