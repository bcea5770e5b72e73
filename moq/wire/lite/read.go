package lite

import (
	"io"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// ReadBody reads the next message that has no type and whose strings bound its
// size: everything but SETUP, which has MaxSetup, and ANNOUNCE_INIT, which has
// MaxMessage; read those with [wire.ReadMessage]. See there for buf and errors.
func ReadBody(r wire.ByteReader, v Version, buf []byte) ([]byte, error) {
	return wire.ReadMessage(r, v.Encoding(), MaxRequest, buf)
}

// readType reads the type of a message. io.EOF only if nothing was read.
func readType(r io.ByteReader, v Version) (uint64, error) {
	return v.Encoding().ReadVarint(r)
}

// readTypedBody reads the body that follows a type, so that an end of the
// stream there is never a clean one.
func readTypedBody(r wire.ByteReader, v Version, limit uint64, buf []byte) ([]byte, error) {
	body, err := wire.ReadMessage(r, v.Encoding(), limit, buf)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return body, err
}
