package qmux

import wire "github.com/moqmesh/moqmesh/moq/wire/qmux"

// kind is bidirectional or unidirectional, an index into per-kind arrays.
type kind int

const (
	bidi kind = iota
	uni
)

// A stream id is index<<2 | unidirectional<<1 | opened by the server (§2.6.2).
const (
	serverBit = 1
	uniBit    = 2
)

func kindOf(id uint64) kind { return kind((id & uniBit) >> 1) }

func indexOf(id uint64) uint64 { return id >> 2 }

func streamID(k kind, index uint64, client bool) uint64 {
	id := index<<2 | uint64(k)<<1
	if !client {
		id |= serverBit
	}
	return id
}

// ours reports whether we, not the peer, open streams with such an id.
func (c *Conn) ours(id uint64) bool { return (id&serverBit == 0) == c.cfg.Client }

// maxStreamIndex keeps ids within a varint.
const maxStreamIndex = 1 << 60

// sendLimit is how much of a new stream the peer's parameters let us send: on a
// stream of ours the peer is the remote end, on its own it is the local one.
func sendLimit(p *wire.Parameters, id uint64, ours bool) uint64 {
	switch {
	case kindOf(id) == uni:
		return p.MaxStreamDataUni
	case ours:
		return p.MaxStreamDataBidiRemote
	default:
		return p.MaxStreamDataBidiLocal
	}
}
