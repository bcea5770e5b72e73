package moqt

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Version is a draft of MoQ Transport; its value is the draft's number. The
// zero value is none. Drafts are ordered: v >= Draft17 reads as "17 or newer".
type Version uint8

// The drafts peers negotiate (§1.1).
const (
	Draft14 Version = iota + 14
	Draft15
	Draft16
	Draft17
	Draft18
	Draft19
	Draft20
	Draft21
	Draft22
)

// ParseVersion returns the version of that name, such as "moq-transport-16".
func ParseVersion(name string) (Version, error) {
	for v := Draft14; v <= Draft22; v++ {
		if v.String() == name {
			return v, nil
		}
	}
	return 0, fmt.Errorf("moqt version %q: %w", name, wire.ErrValue)
}

// String returns the version's name, such as "moq-transport-16".
func (v Version) String() string { return fmt.Sprintf("moq-transport-%d", uint8(v)) }

// ALPN returns the protocol name that negotiates the version on TLS,
// WebTransport and qmux. That of 14 covers every draft up to it; which of them
// is settled by [Setup]. Empty for no version.
func (v Version) ALPN() string {
	switch {
	case v == Draft14:
		return "moq-00"
	case v.valid():
		return fmt.Sprintf("moqt-%d", uint8(v))
	default:
		return ""
	}
}

// Code returns the number that stands for the version in the version lists of
// [Setup], where only that of 14 is in use; 0 for no version.
func (v Version) Code() uint64 {
	if !v.valid() {
		return 0
	}
	return 0xff000000 + uint64(v)
}

// Encoding returns how the version writes its varints (§2.1).
func (v Version) Encoding() wire.Encoding {
	switch {
	case v <= Draft16:
		return wire.QUIC
	case v == Draft17:
		return wire.LeadingNo7
	default:
		return wire.Leading64
	}
}

func (v Version) valid() bool { return Draft14 <= v && v <= Draft22 }
