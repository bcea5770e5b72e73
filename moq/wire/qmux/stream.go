package qmux

import "github.com/moqmesh/moqmesh/moq/wire"

// Bits of a STREAM type.
const (
	streamFin    = 0x01
	streamLength = 0x02
	streamOffset = 0x04
)

// Stream carries bytes of one stream, in order (STREAM, §2.6.3). An empty first
// frame opens the stream.
type Stream struct {
	ID uint64
	// Offset of Data in the stream. Some senders leave it out; the channel keeps
	// the order anyway, so receivers need not look.
	Offset uint64
	Fin    bool
	Data   []byte
}

// Append appends the frame.
func (f Stream) Append(b []byte, v Version) []byte {
	return append(AppendStreamHeader(b, v, f.ID, f.Offset, len(f.Data), f.Fin), f.Data...)
}

// AppendStreamHeader appends all of a STREAM frame but its data, size bytes
// that the caller appends next.
func AppendStreamHeader(b []byte, v Version, id, offset uint64, size int, fin bool) []byte {
	typ := byte(TypeStream)
	if fin {
		typ |= streamFin
	}
	if v == Legacy {
		return wire.AppendVarint(append(b, typ), id)
	}
	b = wire.AppendVarint(append(b, typ|streamOffset|streamLength), id)
	b = wire.AppendVarint(b, offset)
	return wire.AppendVarint(b, uint64(size))
}

// MaxStreamHeader bounds what AppendStreamHeader appends, in bytes.
const MaxStreamHeader = 1 + 8 + 8 + 4

// Stream reads the frame after TypeStream. Data aliases the message.
func (r *Reader) Stream() (Stream, error) {
	f := Stream{ID: r.r.Varint(), Fin: r.flags&streamFin != 0}
	if r.flags&streamOffset != 0 {
		f.Offset = r.r.Varint()
	}
	if r.flags&streamLength != 0 {
		f.Data = r.r.Bytes(r.r.Len())
	} else {
		f.Data = r.r.Rest()
	}
	return f, r.done("STREAM")
}
