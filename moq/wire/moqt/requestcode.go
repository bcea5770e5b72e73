package moqt

import "fmt"

// RequestCode says why a request was refused (§10.2). Its values are ours. A
// draft that has no number for a code sends that of InternalError.
type RequestCode uint8

// The request codes.
const (
	InternalError RequestCode = iota
	Unauthorized
	Timeout
	NotSupported
	MalformedAuthToken
	ExpiredAuthToken
	GoingAway
	ExcessiveLoad
	DoesNotExist
	InvalidRange
	MalformedTrack
	DuplicateSubscription
	Uninterested
	PrefixOverlap
	NamespaceTooLarge
	InvalidJoiningRequestID
	UnknownStatusInRange
	NoObjects
	UnsupportedExtension
	Redirected
	ConflictingFilters
	InvalidFilter
	OtherRequestCode // not in the draft's registry; see the message's Number
)

var requestCodeNames = [...]string{
	InternalError:           "internal error",
	Unauthorized:            "unauthorized",
	Timeout:                 "timeout",
	NotSupported:            "not supported",
	MalformedAuthToken:      "malformed auth token",
	ExpiredAuthToken:        "expired auth token",
	GoingAway:               "going away",
	ExcessiveLoad:           "excessive load",
	DoesNotExist:            "does not exist",
	InvalidRange:            "invalid range",
	MalformedTrack:          "malformed track",
	DuplicateSubscription:   "duplicate subscription",
	Uninterested:            "uninterested",
	PrefixOverlap:           "prefix overlap",
	NamespaceTooLarge:       "namespace too large",
	InvalidJoiningRequestID: "invalid joining request id",
	UnknownStatusInRange:    "unknown status in range",
	NoObjects:               "no objects",
	UnsupportedExtension:    "unsupported extension",
	Redirected:              "redirect",
	ConflictingFilters:      "conflicting filters",
	InvalidFilter:           "invalid filter",
	OtherRequestCode:        "unassigned",
}

// String returns the code's name in lower case.
func (c RequestCode) String() string {
	if int(c) < len(requestCodeNames) {
		return requestCodeNames[c]
	}
	return fmt.Sprintf("request code %d", uint8(c))
}

// redirectNumber is what makes a REQUEST_ERROR have a redirect.
const redirectNumber = 0x34

var requestCodes = assignments[RequestCode]{
	{InternalError, 0x0, Draft14, Draft22},
	{Unauthorized, 0x1, Draft14, Draft22},
	{Timeout, 0x2, Draft14, Draft22},
	{NotSupported, 0x3, Draft14, Draft22},
	{MalformedAuthToken, 0x4, Draft15, Draft22},
	{ExpiredAuthToken, 0x5, Draft15, Draft22},
	{GoingAway, 0x6, Draft17, Draft22},
	{ExcessiveLoad, 0x9, Draft17, Draft22},
	{DoesNotExist, 0x10, Draft15, Draft22},
	{InvalidRange, 0x11, Draft15, Draft22},
	{MalformedTrack, 0x12, Draft15, Draft22},
	{DuplicateSubscription, 0x19, Draft16, Draft18},
	{Uninterested, 0x20, Draft15, Draft22},
	{PrefixOverlap, 0x30, Draft15, Draft22},
	{NamespaceTooLarge, 0x31, Draft17, Draft22},
	{InvalidJoiningRequestID, 0x32, Draft15, Draft19},
	{UnknownStatusInRange, 0x33, Draft15, Draft15},
	{UnsupportedExtension, 0x33, Draft18, Draft22},
	{Redirected, redirectNumber, Draft18, Draft22},
	{ConflictingFilters, 0x35, Draft19, Draft22},
	{InvalidFilter, 0x36, Draft19, Draft22},
}

// requestCodes14 has what 14 adds for each kind of request.
var requestCodes14 = map[Request]assignments[RequestCode]{
	ForSubscribe:   trackCodes14,
	ForTrackStatus: trackCodes14,
	ForFetch: append(trackCodes14[:len(trackCodes14):len(trackCodes14)],
		assignment[RequestCode]{NoObjects, 0x6, Draft14, Draft14},
		assignment[RequestCode]{InvalidJoiningRequestID, 0x7, Draft14, Draft14},
		assignment[RequestCode]{UnknownStatusInRange, 0x8, Draft14, Draft14},
		assignment[RequestCode]{MalformedTrack, 0x9, Draft14, Draft14},
	),
	ForPublish: {
		{Uninterested, 0x4, Draft14, Draft14},
	},
	ForPublishNamespace: {
		{Uninterested, 0x4, Draft14, Draft14},
		{MalformedAuthToken, 0x10, Draft14, Draft14},
		{ExpiredAuthToken, 0x12, Draft14, Draft14},
	},
	ForSubscribeNamespace: {
		{DoesNotExist, 0x4, Draft14, Draft14}, // NAMESPACE_PREFIX_UNKNOWN
		{PrefixOverlap, 0x5, Draft14, Draft14},
		{MalformedAuthToken, 0x10, Draft14, Draft14},
		{ExpiredAuthToken, 0x12, Draft14, Draft14},
	},
}

var trackCodes14 = assignments[RequestCode]{
	{DoesNotExist, 0x4, Draft14, Draft14}, // TRACK_DOES_NOT_EXIST
	{InvalidRange, 0x5, Draft14, Draft14},
	{MalformedAuthToken, 0x10, Draft14, Draft14},
	{ExpiredAuthToken, 0x12, Draft14, Draft14},
}

// number returns what a code is written as in the refusal of a request.
func (c RequestCode) number(v Version, request Request, other uint64) uint64 {
	if c == OtherRequestCode {
		return other
	}
	if n, ok := requestCodes.number(c, v); ok {
		return n
	}
	if v == Draft14 {
		n, _ := requestCodes14[request].number(c, v)
		return n
	}
	return 0
}

// requestCode is the inverse of RequestCode.number.
func requestCode(n uint64, v Version, request Request) RequestCode {
	if c, ok := requestCodes.code(n, v); ok {
		return c
	}
	if c, ok := requestCodes14[request].code(n, v); ok {
		return c
	}
	return OtherRequestCode
}
