package moqt

import "fmt"

// StreamCode is why a stream is reset or its reading given up (§10.4). Its
// values are ours.
type StreamCode uint8

// The stream codes.
const (
	StreamInternalError StreamCode = iota
	StreamCancelled
	StreamDeliveryTimeout
	StreamSessionClosed
	StreamGoingAway
	StreamTooFarBehind
	StreamUnknownObjectStatus
	StreamExpiredAuthToken
	StreamExcessiveLoad
	StreamMalformedTrack
)

var streamCodeNames = [...]string{
	StreamInternalError:       "internal error",
	StreamCancelled:           "cancelled",
	StreamDeliveryTimeout:     "delivery timeout",
	StreamSessionClosed:       "session closed",
	StreamGoingAway:           "going away",
	StreamTooFarBehind:        "too far behind",
	StreamUnknownObjectStatus: "unknown object status",
	StreamExpiredAuthToken:    "expired auth token",
	StreamExcessiveLoad:       "excessive load",
	StreamMalformedTrack:      "malformed track",
}

// String returns the code's name in lower case.
func (c StreamCode) String() string {
	if int(c) < len(streamCodeNames) {
		return streamCodeNames[c]
	}
	return fmt.Sprintf("stream code %d", uint8(c))
}

var streamCodes = assignments[StreamCode]{
	{StreamInternalError, 0x0, Draft14, Draft22},
	{StreamCancelled, 0x1, Draft14, Draft22},
	{StreamDeliveryTimeout, 0x2, Draft14, Draft22},
	{StreamSessionClosed, 0x3, Draft14, Draft22},
	{StreamUnknownObjectStatus, 0x4, Draft16, Draft17},
	{StreamGoingAway, 0x4, Draft18, Draft22},
	{StreamTooFarBehind, 0x5, Draft17, Draft22},
	{StreamUnknownObjectStatus, 0x6, Draft18, Draft22},
	{StreamExpiredAuthToken, 0x7, Draft18, Draft22},
	{StreamExcessiveLoad, 0x9, Draft17, Draft22},
	{StreamMalformedTrack, 0x12, Draft16, Draft22},
}

// Number returns the code's number on raw QUIC, which WebTransport maps to its
// own; that of StreamInternalError where the draft has none.
func (c StreamCode) Number(v Version) uint64 {
	n, _ := streamCodes.number(c, v)
	return n
}

// ParseStreamCode returns the code of a number; ok is false for a number the
// draft does not have, which is to be tolerated.
func ParseStreamCode(n uint64, v Version) (c StreamCode, ok bool) { return streamCodes.code(n, v) }
