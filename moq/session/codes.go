package session

import "fmt"

// SessionCode is the code of a session close (moq-lite.md §13, left column).
// 64 and above are application codes, offset by 64.
type SessionCode uint32

const (
	CodeNoError           SessionCode = 0x0
	CodeInternal          SessionCode = 0x1
	CodeUnauthorized      SessionCode = 0x2
	CodeProtocolViolation SessionCode = 0x3
	CodeKeyValue          SessionCode = 0x6 // "unauthorized" from relays before 0.17
	CodeGoawayTimeout     SessionCode = 0x10
	CodeControlTimeout    SessionCode = 0x11
	CodeVersion           SessionCode = 0x15
)

var sessionCodeNames = map[SessionCode]string{
	CodeNoError:           "no error",
	CodeInternal:          "internal",
	CodeUnauthorized:      "unauthorized",
	CodeProtocolViolation: "protocol violation",
	CodeKeyValue:          "key-value formatting (of old: unauthorized)",
	CodeGoawayTimeout:     "goaway timeout",
	CodeControlTimeout:    "control message timeout",
	CodeVersion:           "version negotiation failed",
}

func (c SessionCode) String() string {
	if name, ok := sessionCodeNames[c]; ok {
		return name
	}
	return fmt.Sprintf("code %#x", uint32(c))
}

// StreamCode is the code of a stream reset or stop (moq-lite.md §13, right column).
// 64 and above are application codes, offset by 64.
type StreamCode uint32

const (
	StreamInternal        StreamCode = 0x0
	StreamCancelled       StreamCode = 0x1
	StreamDeliveryTimeout StreamCode = 0x2
	StreamSessionClosed   StreamCode = 0x3
	StreamGoingAway       StreamCode = 0x4
	StreamTooFarBehind    StreamCode = 0x5
	StreamMalformed       StreamCode = 0x12
	StreamNoCapacity      StreamCode = 0x30
	StreamControlTimeout  StreamCode = 0x31
	StreamGroupTooLarge   StreamCode = 0x32
	StreamNotFound        StreamCode = 0x33
	StreamExpired         StreamCode = 0x34
	StreamEvicted         StreamCode = 0x35
	StreamUnroutable      StreamCode = 0x36
	StreamWrongSize       StreamCode = 0x37
	StreamFrameTooLarge   StreamCode = 0x38
	StreamTimestamp       StreamCode = 0x39
)

var streamCodeNames = map[StreamCode]string{
	StreamInternal:        "internal",
	StreamCancelled:       "cancelled",
	StreamDeliveryTimeout: "delivery timeout",
	StreamSessionClosed:   "session closed",
	StreamGoingAway:       "going away",
	StreamTooFarBehind:    "too far behind",
	StreamMalformed:       "malformed track",
	StreamNoCapacity:      "no capacity",
	StreamControlTimeout:  "control timeout",
	StreamGroupTooLarge:   "group too large",
	StreamNotFound:        "not found",
	StreamExpired:         "expired",
	StreamEvicted:         "evicted",
	StreamUnroutable:      "unroutable",
	StreamWrongSize:       "wrong size",
	StreamFrameTooLarge:   "frame too large",
	StreamTimestamp:       "timestamp mismatch",
}

func (c StreamCode) String() string {
	if name, ok := streamCodeNames[c]; ok {
		return name
	}
	return fmt.Sprintf("code %#x", uint32(c))
}
