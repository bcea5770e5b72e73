package qmux

import "github.com/moqmesh/moqmesh/moq/wire"

// Datagram carries an application datagram (DATAGRAM, §2.6.3). V01 on.
type Datagram struct{ Data []byte }

// Append appends the frame, with its length.
func (f Datagram) Append(b []byte, _ Version) []byte {
	return wire.QUIC.AppendBytes(append(b, byte(TypeDatagram)|1), f.Data)
}

// Len returns how many bytes Append appends.
func (f Datagram) Len() int {
	return 1 + wire.QUIC.VarintLen(uint64(len(f.Data))) + len(f.Data)
}

// Datagram reads the frame after TypeDatagram. Data aliases the message.
func (r *Reader) Datagram() (f Datagram, err error) {
	if r.flags != 0 {
		f.Data = r.r.Bytes(r.r.Len())
	} else {
		f.Data = r.r.Rest()
	}
	return f, r.done("DATAGRAM")
}
