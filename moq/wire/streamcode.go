package wire

import "math"

// firstStreamCode is where WebTransport's stream error codes start in HTTP/3's code space.
const firstStreamCode = 0x52e4a40fa8db

// MapStreamCode turns a MoQ stream code into the QUIC code that carries it in
// RESET_STREAM and STOP_SENDING, on WebTransport and on raw QUIC (§2.4). Every
// 31st QUIC code is left out: HTTP/3 reserves those.
func MapStreamCode(code uint32) uint64 {
	return firstStreamCode + uint64(code) + uint64(code)/30
}

// UnmapStreamCode is the inverse of MapStreamCode. ok is false where the QUIC
// code is outside the range, which means "cancelled, no code".
func UnmapStreamCode(quic uint64) (code uint32, ok bool) {
	if quic < firstStreamCode || quic > MapStreamCode(math.MaxUint32) {
		return 0, false
	}
	x := quic - firstStreamCode
	return uint32(x - x/31), true
}
