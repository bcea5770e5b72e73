package qmux

import (
	"strings"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// MaxReason bounds the reason of a close in bytes, both ways; more is cut off.
const MaxReason = 1024

// Close ends the connection (CONNECTION_CLOSE and APPLICATION_CLOSE, §2.6.3).
type Close struct {
	// Application tells a graceful end, whose Code is the application's, from
	// an abnormal one, whose Code is the transport's.
	Application bool
	Code        uint64
	Reason      string // UTF-8, at most MaxReason bytes
}

// Append appends the frame. The frame type field of CONNECTION_CLOSE is always 0.
func (f Close) Append(b []byte, v Version) []byte {
	typ := TypeConnectionClose
	if f.Application {
		typ = TypeApplicationClose
	}
	b = wire.AppendVarint(append(b, byte(typ)), f.Code)
	reason := cutReason(f.Reason)
	if v == Legacy {
		return append(b, reason...)
	}
	if !f.Application {
		b = append(b, 0)
	}
	return wire.QUIC.AppendString(b, reason)
}

// Close reads the frame after TypeConnectionClose or TypeApplicationClose. A
// reason that is not UTF-8 or too long is mended: the code matters more.
func (r *Reader) Close() (Close, error) {
	f := Close{Application: r.typ == TypeApplicationClose, Code: r.r.Varint()}
	var reason []byte
	switch {
	case r.version == Legacy:
		reason = r.r.Rest()
	case f.Application:
		reason = r.applicationReason()
	default:
		r.r.Varint() // frame type
		reason = r.r.Bytes(r.r.Len())
	}
	f.Reason = cutReason(string(reason))
	return f, r.done("close")
}

// applicationReason reads the reason of APPLICATION_CLOSE. Older browser
// clients, which speak V00 at most, put a frame type before it as in
// CONNECTION_CLOSE. It is 0 and so reads as an empty reason with bytes behind it.
func (r *Reader) applicationReason() []byte {
	reason := r.r.Bytes(r.r.Len())
	if r.version == V00 && len(reason) == 0 && r.r.Len() > 0 {
		return r.r.Bytes(r.r.Len())
	}
	return reason
}

func cutReason(s string) string {
	if len(s) > MaxReason {
		s = s[:MaxReason]
	}
	return strings.ToValidUTF8(s, "")
}
