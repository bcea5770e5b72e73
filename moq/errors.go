package moq

import "errors"

// Reasons for which a broadcast, track or group ends early. A session maps them
// to the codes of its draft.
var (
	// ErrNotFound: no such track or group.
	ErrNotFound = errors.New("not found")
	// ErrUnroutable: nobody announces the broadcast, or only through the asker.
	ErrUnroutable = errors.New("unroutable")
	// ErrCancelled: the reader or the writer gave up.
	ErrCancelled = errors.New("cancelled")
	// ErrClosed: the session or broadcast behind it is gone.
	ErrClosed = errors.New("closed")
	// ErrExpired: a group fell behind the live edge by more than the maximum age.
	ErrExpired = errors.New("expired")
	// ErrEvicted: a group was dropped to free memory.
	ErrEvicted = errors.New("evicted")
	// ErrDuplicate: that group is already there.
	ErrDuplicate = errors.New("duplicate group")
	// ErrWrongSize: a frame ended before its declared size, or ran over it.
	ErrWrongSize = errors.New("frame of wrong size")
	// ErrFrameTooLarge: a frame above MaxFrame.
	ErrFrameTooLarge = errors.New("frame too large")
	// ErrGroupTooLarge: a group above MaxGroup or MaxFrames.
	ErrGroupTooLarge = errors.New("group too large")
	// ErrTimestamp: a timestamp outside 0 … 2^62-1.
	ErrTimestamp = errors.New("timestamp out of range")
	// ErrMalformed: the sender broke the rules of the track.
	ErrMalformed = errors.New("malformed track")
	// ErrGoingAway: the session takes no new requests.
	ErrGoingAway = errors.New("going away")
	// ErrTimeout: no answer in time.
	ErrTimeout = errors.New("timeout")
)

// Limits that every group obeys (moq-lite.md §19).
const (
	MaxFrame  = 32 << 20 // bytes of one frame's payload
	MaxGroup  = 32 << 20 // bytes of one group, frame headers included
	MaxFrames = 8192     // frames of one group
)
