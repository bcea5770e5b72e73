package moqt

import (
	"errors"
	"fmt"
	"testing"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// What the number of each code is, where drafts moved it or have none (§10).
func TestRequestCodeNumbers(t *testing.T) {
	tests := []struct {
		code    RequestCode
		v       Version
		request Request
		want    uint64
	}{
		{DoesNotExist, Draft14, ForSubscribe, 0x4},
		{DoesNotExist, Draft14, ForTrackStatus, 0x4},
		{DoesNotExist, Draft14, ForSubscribeNamespace, 0x4},
		{DoesNotExist, Draft14, ForPublishNamespace, 0}, // it has none
		{DoesNotExist, Draft15, ForSubscribe, 0x10},
		{MalformedAuthToken, Draft14, ForSubscribe, 0x10},
		{MalformedAuthToken, Draft15, ForSubscribe, 0x4},
		{InvalidRange, Draft14, ForFetch, 0x5},
		{MalformedTrack, Draft14, ForFetch, 0x9},
		{MalformedTrack, Draft14, ForSubscribe, 0},
		{MalformedTrack, Draft16, ForSubscribe, 0x12},
		{Uninterested, Draft14, ForPublish, 0x4},
		{Uninterested, Draft22, ForPublish, 0x20},
		{GoingAway, Draft16, ForSubscribe, 0},
		{GoingAway, Draft17, ForSubscribe, 0x6},
		{DuplicateSubscription, Draft15, ForSubscribe, 0},
		{DuplicateSubscription, Draft18, ForSubscribe, 0x19},
		{DuplicateSubscription, Draft19, ForSubscribe, 0},
		{UnknownStatusInRange, Draft15, ForFetch, 0x33},
		{UnsupportedExtension, Draft17, ForSubscribe, 0},
		{UnsupportedExtension, Draft18, ForSubscribe, 0x33},
		{InvalidFilter, Draft19, ForSubscribe, 0x36},
	}
	for _, tt := range tests {
		if got := tt.code.number(tt.v, tt.request, 0); got != tt.want {
			t.Errorf("code %d on %s for request %d is %#x, want %#x", tt.code, tt.v, tt.request, got, tt.want)
		}
	}
}

// No number stands for two codes, no code has two numbers, and none is kept
// from being read by what reads the next.
func TestCodesAreUnambiguous(t *testing.T) {
	for v := Draft14; v <= Draft22; v++ {
		checkRegistry(t, v, "done", doneStatuses)
		checkRegistry(t, v, "stream", streamCodes)
		for request := ForAny; request <= ForTrackStatus; request++ {
			both := append(requestCodes[:len(requestCodes):len(requestCodes)], requestCodes14[request]...)
			checkRegistry(t, v, fmt.Sprintf("request %d", request), both)
			for _, a := range both {
				if a.first <= v && v <= a.last && requestCode(a.number, v, request) != a.code {
					t.Errorf("%s: request %d: %#x is not code %d", v, request, a.number, a.code)
				}
			}
		}
	}
}

func checkRegistry[C ~uint8](t *testing.T, v Version, name string, as assignments[C]) {
	t.Helper()
	for i, a := range as {
		for _, b := range as[:i] {
			both := a.first <= v && v <= a.last && b.first <= v && v <= b.last
			if both && (a.code == b.code || a.number == b.number) {
				t.Errorf("%s: %s: code %d is %#x and code %d is %#x", v, name, a.code, a.number, b.code, b.number)
			}
		}
	}
}

// "0x5 / 0x6: EXPIRED / TOO_FAR_BEHIND on ≤17, swapped on 18+"
func TestDoneStatusSwap(t *testing.T) {
	for v := Draft14; v <= Draft22; v++ {
		expired, behind := uint64(5), uint64(6)
		if v >= Draft18 {
			expired, behind = behind, expired
		}
		if doneStatus(expired, v) != DoneExpired || doneStatus(behind, v) != DoneTooFarBehind {
			t.Errorf("%s: 5 is %d, 6 is %d", v, doneStatus(5, v), doneStatus(6, v))
		}
	}
	if n := DoneSubscriptionEnded.number(Draft20, 0); n != 0 {
		t.Errorf("a status that 20 lacks is %#x", n)
	}
	if s := doneStatus(3, Draft20); s != OtherDone || s.number(Draft20, 3) != 3 {
		t.Errorf("3 on 20 is status %d, number %d", s, s.number(Draft20, 3))
	}
}

func TestStreamCodes(t *testing.T) {
	tests := []struct {
		code StreamCode
		v    Version
		want uint64
	}{
		{StreamCancelled, Draft14, 1},
		{StreamUnknownObjectStatus, Draft15, 0},
		{StreamUnknownObjectStatus, Draft16, 4},
		{StreamGoingAway, Draft17, 0},
		{StreamGoingAway, Draft18, 4},
		{StreamUnknownObjectStatus, Draft18, 6},
		{StreamMalformedTrack, Draft22, 0x12},
	}
	for _, tt := range tests {
		if got := tt.code.Number(tt.v); got != tt.want {
			t.Errorf("code %d on %s is %#x, want %#x", tt.code, tt.v, got, tt.want)
		}
	}
	if c, ok := ParseStreamCode(4, Draft18); c != StreamGoingAway || !ok {
		t.Errorf("4 on 18 is %d, %t", c, ok)
	}
	if c, ok := ParseStreamCode(77, Draft18); ok {
		t.Errorf("77 is code %d", c)
	}
}

func TestCloseCodes(t *testing.T) {
	if got := CloseGoawayTimeout.String(); got != "goaway timeout" {
		t.Errorf("0x10 is %q", got)
	}
	if got := CloseCode(64).String(); got != "close code 0x40" {
		t.Errorf("64 is %q", got)
	}
	if got := CloseCodeFor(fmt.Errorf("decode: %w: %w", ErrPair, wire.ErrShort)); got != CloseKeyValueFormatting {
		t.Errorf("a malformed pair closes with %v", got)
	}
	if got := CloseCodeFor(errors.New("anything else")); got != CloseProtocolViolation {
		t.Errorf("anything else closes with %v", got)
	}
}

func TestCodeNames(t *testing.T) {
	for got, want := range map[fmt.Stringer]string{
		DoesNotExist:              "does not exist",
		InvalidJoiningRequestID:   "invalid joining request id",
		OtherRequestCode:          "unassigned",
		OtherRequestCode + 1:      "request code 23",
		DoneTrackEnded:            "track ended",
		OtherDone + 1:             "done status 11",
		StreamUnknownObjectStatus: "unknown object status",
		StreamMalformedTrack + 1:  "stream code 10",
	} {
		if got.String() != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
