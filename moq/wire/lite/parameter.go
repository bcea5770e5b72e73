package lite

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Parameter is one entry of a CLIENT_SETUP or SERVER_SETUP, written as in moqt
// 14: an even id carries a number, an odd one bytes (§2.5). Unknown ids are to
// be ignored.
type Parameter struct {
	ID     uint64
	Number uint64 // of an even id
	Bytes  []byte // of an odd id; aliases the body when decoded
}

// Ids of the parameters in use.
const (
	ParamPath           uint64 = 0x01 // request path, where the transport has no URL
	ParamMaxRequestID   uint64 = 0x02
	ParamImplementation uint64 = 0x07 // name of the sender's software
)

func appendParameters(b []byte, ps []Parameter) []byte {
	b = wire.AppendVarint(b, uint64(len(ps)))
	for _, p := range ps {
		b = wire.AppendVarint(b, p.ID)
		if p.ID%2 == 0 {
			b = wire.AppendVarint(b, p.Number)
		} else {
			b = wire.QUIC.AppendBytes(b, p.Bytes)
		}
	}
	return b
}

func readParameters(r *wire.Reader) (ps []Parameter) {
	n := r.Varint()
	if n > MaxParams {
		r.Fail(fmt.Errorf("%d parameters: %w", n, wire.ErrTooMany))
		return nil
	}
	for range n {
		p := Parameter{ID: r.Varint()}
		if p.ID%2 == 0 {
			p.Number = r.Varint()
		} else {
			p.Bytes = r.Bytes(MaxSetup)
		}
		if r.Err() != nil {
			return nil
		}
		ps = append(ps, p)
	}
	return ps
}
