package moqt

import "fmt"

// DoneStatus says why a subscription ended (§10.3). Its values are ours. A
// draft that has no number for a status sends that of DoneInternalError.
type DoneStatus uint8

// The statuses.
const (
	DoneInternalError DoneStatus = iota
	DoneUnauthorized
	DoneTrackEnded        // the track is complete
	DoneSubscriptionEnded // the end of the subscribed range was reached; up to 19
	DoneGoingAway
	DoneExpired
	DoneTooFarBehind
	DoneUpdateFailed
	DoneExcessiveLoad
	DoneMalformedTrack
	OtherDone // not in the draft's registry; see PublishDone.Number
)

var doneStatusNames = [...]string{
	DoneInternalError:     "internal error",
	DoneUnauthorized:      "unauthorized",
	DoneTrackEnded:        "track ended",
	DoneSubscriptionEnded: "subscription ended",
	DoneGoingAway:         "going away",
	DoneExpired:           "expired",
	DoneTooFarBehind:      "too far behind",
	DoneUpdateFailed:      "update failed",
	DoneExcessiveLoad:     "excessive load",
	DoneMalformedTrack:    "malformed track",
	OtherDone:             "unassigned",
}

// String returns the status's name in lower case.
func (s DoneStatus) String() string {
	if int(s) < len(doneStatusNames) {
		return doneStatusNames[s]
	}
	return fmt.Sprintf("done status %d", uint8(s))
}

var doneStatuses = assignments[DoneStatus]{
	{DoneInternalError, 0x0, Draft14, Draft22},
	{DoneUnauthorized, 0x1, Draft14, Draft22},
	{DoneTrackEnded, 0x2, Draft14, Draft22},
	{DoneSubscriptionEnded, 0x3, Draft14, Draft19},
	{DoneGoingAway, 0x4, Draft14, Draft22},
	{DoneExpired, 0x5, Draft14, Draft17},
	{DoneTooFarBehind, 0x6, Draft14, Draft17},
	{DoneTooFarBehind, 0x5, Draft18, Draft22},
	{DoneExpired, 0x6, Draft18, Draft22},
	{DoneMalformedTrack, 0x7, Draft14, Draft15},
	{DoneMalformedTrack, 0x12, Draft16, Draft22},
	{DoneUpdateFailed, 0x8, Draft15, Draft22},
	{DoneExcessiveLoad, 0x9, Draft17, Draft22},
}

func (s DoneStatus) number(v Version, other uint64) uint64 {
	if s == OtherDone {
		return other
	}
	n, _ := doneStatuses.number(s, v)
	return n
}

func doneStatus(n uint64, v Version) DoneStatus {
	if s, ok := doneStatuses.code(n, v); ok {
		return s
	}
	return OtherDone
}
