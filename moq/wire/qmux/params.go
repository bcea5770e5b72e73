package qmux

import (
	"fmt"
	"time"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Parameters are what one side grants the other (QX_TRANSPORT_PARAMETERS,
// §2.6.5). Zero fields are not sent. Not in Legacy.
type Parameters struct {
	MaxIdleTimeout time.Duration // whole milliseconds; 0 = none
	// MaxData is the window of the connection in bytes.
	MaxData uint64
	// Windows of one stream in bytes: bidirectional opened by the sender of the
	// parameters, bidirectional opened by their receiver, unidirectional.
	MaxStreamDataBidiLocal, MaxStreamDataBidiRemote, MaxStreamDataUni uint64
	// How many streams of each kind the receiver may open at first.
	MaxStreamsBidi, MaxStreamsUni uint64
	// MaxDatagramFrame is the largest DATAGRAM frame taken, in bytes; 0 = none.
	MaxDatagramFrame uint64
	// MaxRecord is the largest record taken, in bytes; 0 = MaxRecord, the default.
	MaxRecord uint64
	// ResetStreamAt says that RESET_STREAM_AT is understood. V02.
	ResetStreamAt bool
	// ApplicationProtocols are the sender's ALPNs, best first, on a channel
	// without a negotiation of its own; nil = parameter absent.
	ApplicationProtocols []string
}

const (
	paramMaxIdleTimeout       = 0x01
	paramMaxData              = 0x04
	paramMaxStreamDataBidiLoc = 0x05
	paramMaxStreamDataBidiRem = 0x06
	paramMaxStreamDataUni     = 0x07
	paramMaxStreamsBidi       = 0x08
	paramMaxStreamsUni        = 0x09
	paramMaxDatagramFrame     = 0x20
	paramMaxRecord            = 0x0571c59429cd0845
	paramResetStreamAt        = 0x1d
	paramApplicationProtocols = 0x3d4f9c2a8b1e6075
)

const (
	maxProtocols   = 64  // entries of application_protocols
	maxProtocolLen = 255 // bytes of one
	maxParamValue  = MaxRecord
)

// Append appends the frame.
func (p Parameters) Append(b []byte, _ Version) []byte {
	b = wire.AppendVarint(b, uint64(TypeParameters))
	return wire.QUIC.AppendBytes(b, p.appendBody(nil))
}

func (p Parameters) appendBody(b []byte) []byte {
	b = appendParam(b, paramMaxIdleTimeout, uint64(p.MaxIdleTimeout.Milliseconds()))
	b = appendParam(b, paramMaxData, p.MaxData)
	b = appendParam(b, paramMaxStreamDataBidiLoc, p.MaxStreamDataBidiLocal)
	b = appendParam(b, paramMaxStreamDataBidiRem, p.MaxStreamDataBidiRemote)
	b = appendParam(b, paramMaxStreamDataUni, p.MaxStreamDataUni)
	b = appendParam(b, paramMaxStreamsBidi, p.MaxStreamsBidi)
	b = appendParam(b, paramMaxStreamsUni, p.MaxStreamsUni)
	b = appendParam(b, paramMaxDatagramFrame, p.MaxDatagramFrame)
	b = appendParam(b, paramMaxRecord, p.MaxRecord)
	if p.ResetStreamAt {
		b = wire.QUIC.AppendBytes(wire.AppendVarint(b, paramResetStreamAt), nil)
	}
	if p.ApplicationProtocols == nil {
		return b
	}
	var list []byte
	for _, name := range p.ApplicationProtocols {
		list = wire.QUIC.AppendString(list, name)
	}
	return wire.QUIC.AppendBytes(wire.AppendVarint(b, paramApplicationProtocols), list)
}

func appendParam(b []byte, id, v uint64) []byte {
	if v == 0 {
		return b
	}
	b = wire.AppendVarint(b, id)
	b = wire.AppendVarint(b, uint64(wire.QUIC.VarintLen(v)))
	return wire.AppendVarint(b, v)
}

// Parameters reads the frame after TypeParameters. Unknown parameters are
// ignored; a repeated one, or one that QUIC has and qmux forbids, is an error.
func (r *Reader) Parameters() (p Parameters, err error) {
	body := wire.NewReader(wire.QUIC, r.r.Bytes(r.r.Len()))
	if err := r.done("QX_TRANSPORT_PARAMETERS"); err != nil {
		return p, err
	}
	seen := make(map[uint64]bool)
	for body.Len() > 0 {
		id := body.Varint()
		value := wire.NewReader(wire.QUIC, body.Bytes(maxParamValue))
		if err := body.Err(); err != nil {
			return p, fmt.Errorf("read transport parameter: %w", err)
		}
		if seen[id] {
			return p, fmt.Errorf("transport parameter %#x: %w", id, wire.ErrDuplicate)
		}
		seen[id] = true
		if err := p.set(id, &value); err != nil {
			return p, fmt.Errorf("transport parameter %#x: %w", id, err)
		}
	}
	return p, nil
}

func (p *Parameters) set(id uint64, value *wire.Reader) error {
	if field := p.number(id); field != nil {
		*field = value.Varint()
		return value.Close()
	}
	switch {
	case id == paramMaxIdleTimeout:
		// A silly value means never; keep it from overflowing.
		p.MaxIdleTimeout = time.Duration(min(value.Varint(), uint64(24*time.Hour/time.Millisecond))) * time.Millisecond
	case id == paramResetStreamAt:
		p.ResetStreamAt = true
	case id == paramApplicationProtocols:
		p.setProtocols(value)
	case forbidden(id):
		value.Fail(wire.ErrValue)
	default:
		return nil
	}
	return value.Close()
}

// number returns the field of a parameter that is one plain integer, else nil.
func (p *Parameters) number(id uint64) *uint64 {
	switch id {
	case paramMaxData:
		return &p.MaxData
	case paramMaxStreamDataBidiLoc:
		return &p.MaxStreamDataBidiLocal
	case paramMaxStreamDataBidiRem:
		return &p.MaxStreamDataBidiRemote
	case paramMaxStreamDataUni:
		return &p.MaxStreamDataUni
	case paramMaxStreamsBidi:
		return &p.MaxStreamsBidi
	case paramMaxStreamsUni:
		return &p.MaxStreamsUni
	case paramMaxDatagramFrame:
		return &p.MaxDatagramFrame
	case paramMaxRecord:
		return &p.MaxRecord
	}
	return nil
}

func (p *Parameters) setProtocols(value *wire.Reader) {
	p.ApplicationProtocols = []string{}
	for value.Len() > 0 {
		if len(p.ApplicationProtocols) == maxProtocols {
			value.Fail(wire.ErrTooMany)
			return
		}
		p.ApplicationProtocols = append(p.ApplicationProtocols, value.String(maxProtocolLen))
	}
}

// forbidden reports the QUIC parameters that make no sense over a reliable channel.
func forbidden(id uint64) bool {
	return id == 0x00 || id == 0x02 || id == 0x03 || id >= 0x0a && id <= 0x10
}
