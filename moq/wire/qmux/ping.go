package qmux

import "github.com/moqmesh/moqmesh/moq/wire"

// Ping asks for a sign of life, or gives it (QX_PING, §2.6.3). V01 on.
type Ping struct {
	Response bool
	Sequence uint64 // of the request; a response repeats it
}

// Append appends the frame.
func (f Ping) Append(b []byte, _ Version) []byte {
	typ := TypePingRequest
	if f.Response {
		typ = TypePingResponse
	}
	return wire.AppendVarint(wire.AppendVarint(b, uint64(typ)), f.Sequence)
}

// Ping reads the frame after TypePingRequest or TypePingResponse.
func (r *Reader) Ping() (Ping, error) {
	f := Ping{Response: r.typ == TypePingResponse, Sequence: r.r.Varint()}
	return f, r.done("QX_PING")
}
