package qmux

import (
	"errors"
	"fmt"
	"io"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Type tells frames apart. Variants of one frame share a Type: all eight STREAM
// types read as TypeStream.
type Type uint64

// The types Reader.Next returns.
const (
	TypeResetStream      Type = 0x04
	TypeStopSending      Type = 0x05
	TypeStream           Type = 0x08
	TypeMaxData          Type = 0x10
	TypeMaxStreamData    Type = 0x11
	TypeMaxStreamsBidi   Type = 0x12
	TypeMaxStreamsUni    Type = 0x13
	TypeConnectionClose  Type = 0x1c
	TypeApplicationClose Type = 0x1d
	TypeResetStreamAt    Type = 0x24 // read with Reader.ResetStream
	TypeDatagram         Type = 0x30
	TypePingRequest      Type = 0x348c67529ef8c7bd
	TypePingResponse     Type = 0x348c67529ef8c7be
	TypeParameters       Type = 0x3f5153300d0a0d0a
)

const (
	typePadding           Type = 0x00
	typeDataBlocked       Type = 0x14
	typeStreamDataBlocked Type = 0x15
	typeStreamsBlocked    Type = 0x16
	typeStreamsBlockedUni Type = 0x17
)

// ErrUnknownFrame says that the version has no frame of that type.
var ErrUnknownFrame = errors.New("unknown frame type")

// Reader walks the frames of one message: a record from V01 on, one frame
// before. Call Next, then the method of the type it returned, once. What these
// return may alias the message. After an error the Reader is spent.
type Reader struct {
	version Version
	r       wire.Reader
	typ     Type
	flags   uint64 // low bits of a STREAM or DATAGRAM type
	frames  int
}

// NewReader returns a Reader over message, which it does not copy.
func NewReader(v Version, message []byte) Reader {
	return Reader{version: v, r: wire.NewReader(wire.QUIC, message)}
}

// Next moves to the next frame and returns its type; io.EOF at the end of the
// message. PADDING and the BLOCKED frames ask nothing of a receiver and are
// passed over.
func (r *Reader) Next() (Type, error) {
	for r.r.Len() > 0 {
		if r.frames > 0 && !r.version.Records() {
			return 0, fmt.Errorf("second frame in a %s message: %w", r.version, wire.ErrTrailing)
		}
		r.frames++
		r.setType(r.r.Varint())
		switch {
		case r.r.Err() != nil:
			return 0, fmt.Errorf("read frame type: %w", r.r.Err())
		case !r.known():
			return 0, fmt.Errorf("%#x in %s: %w", uint64(r.typ), r.version, ErrUnknownFrame)
		case !r.skip():
			return r.typ, nil
		case r.r.Err() != nil:
			return 0, fmt.Errorf("read blocked frame: %w", r.r.Err())
		}
	}
	return 0, io.EOF
}

func (r *Reader) setType(t uint64) {
	r.typ, r.flags = Type(t), 0
	switch {
	case t >= 0x08 && t <= 0x0f:
		r.typ, r.flags = TypeStream, t&0x07
	case t == 0x30 || t == 0x31:
		r.typ, r.flags = TypeDatagram, t&0x01
	}
}

// known reports whether the version has the frame just found.
func (r *Reader) known() bool {
	switch r.typ {
	case TypeResetStream, TypeStopSending, TypeConnectionClose, TypeApplicationClose:
		return true
	case TypeStream:
		return r.version != Legacy || r.flags&^streamFin == 0
	case TypeMaxData, TypeMaxStreamData, TypeMaxStreamsBidi, TypeMaxStreamsUni, TypeParameters,
		typeDataBlocked, typeStreamDataBlocked, typeStreamsBlocked, typeStreamsBlockedUni:
		return r.version != Legacy
	case typePadding, TypeDatagram, TypePingRequest, TypePingResponse:
		return r.version.Records()
	case TypeResetStreamAt:
		return r.version == V02
	}
	return false
}

// skip passes over a frame that asks nothing of us.
func (r *Reader) skip() bool {
	switch r.typ {
	case typePadding:
	case typeDataBlocked, typeStreamsBlocked, typeStreamsBlockedUni:
		r.r.Varint()
	case typeStreamDataBlocked:
		r.r.Varint()
		r.r.Varint()
	default:
		return false
	}
	return true
}

// done ends a frame's fields.
func (r *Reader) done(frame string) error {
	if err := r.r.Err(); err != nil {
		return fmt.Errorf("read %s: %w", frame, err)
	}
	return nil
}
