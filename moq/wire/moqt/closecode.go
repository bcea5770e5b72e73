package moqt

import (
	"errors"
	"fmt"
)

// CloseCode is why a session ends, the application error code of the close
// (§10.1).
type CloseCode uint64

// The close codes.
const (
	CloseNoError                 CloseCode = 0x0
	CloseInternalError           CloseCode = 0x1
	CloseUnauthorized            CloseCode = 0x2
	CloseProtocolViolation       CloseCode = 0x3
	CloseInvalidRequestID        CloseCode = 0x4
	CloseDuplicateTrackAlias     CloseCode = 0x5
	CloseKeyValueFormatting      CloseCode = 0x6
	CloseTooManyRequests         CloseCode = 0x7 // up to 16; on 17 an invalid required request id
	CloseInvalidPath             CloseCode = 0x8
	CloseMalformedPath           CloseCode = 0x9
	CloseGoawayTimeout           CloseCode = 0x10
	CloseControlMessageTimeout   CloseCode = 0x11
	CloseDataStreamTimeout       CloseCode = 0x12
	CloseAuthTokenCacheOverflow  CloseCode = 0x13
	CloseDuplicateAuthTokenAlias CloseCode = 0x14
	CloseVersionNegotiation      CloseCode = 0x15 // up to 19
	CloseMalformedAuthToken      CloseCode = 0x16
	CloseUnknownAuthTokenAlias   CloseCode = 0x17
	CloseExpiredAuthToken        CloseCode = 0x18
	CloseInvalidAuthority        CloseCode = 0x19
	CloseMalformedAuthority      CloseCode = 0x1a
	CloseTooManyRequestUpdates   CloseCode = 0x1b // 19 and later
)

var closeNames = map[CloseCode]string{
	CloseNoError:                 "no error",
	CloseInternalError:           "internal error",
	CloseUnauthorized:            "unauthorized",
	CloseProtocolViolation:       "protocol violation",
	CloseInvalidRequestID:        "invalid request id",
	CloseDuplicateTrackAlias:     "duplicate track alias",
	CloseKeyValueFormatting:      "key-value formatting error",
	CloseTooManyRequests:         "too many requests",
	CloseInvalidPath:             "invalid path",
	CloseMalformedPath:           "malformed path",
	CloseGoawayTimeout:           "goaway timeout",
	CloseControlMessageTimeout:   "control message timeout",
	CloseDataStreamTimeout:       "data stream timeout",
	CloseAuthTokenCacheOverflow:  "auth token cache overflow",
	CloseDuplicateAuthTokenAlias: "duplicate auth token alias",
	CloseVersionNegotiation:      "version negotiation failed",
	CloseMalformedAuthToken:      "malformed auth token",
	CloseUnknownAuthTokenAlias:   "unknown auth token alias",
	CloseExpiredAuthToken:        "expired auth token",
	CloseInvalidAuthority:        "invalid authority",
	CloseMalformedAuthority:      "malformed authority",
	CloseTooManyRequestUpdates:   "too many request updates",
}

// String returns the code's name in lower case, or its number if it has none.
func (c CloseCode) String() string {
	if name, ok := closeNames[c]; ok {
		return name
	}
	return fmt.Sprintf("close code %#x", uint64(c))
}

// CloseCodeFor returns how a session ends for an error of [Decode] or a Parse
// function.
func CloseCodeFor(err error) CloseCode {
	if errors.Is(err, ErrPair) {
		return CloseKeyValueFormatting
	}
	return CloseProtocolViolation
}
