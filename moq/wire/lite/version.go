package lite

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Version is one version of moq-lite. The zero value is none. Versions are
// ordered by what they can do, so v >= V05 reads as "05 or anything newer";
// where §1's table does not follow that order a method says what does.
type Version uint8

// The versions current peers negotiate (§1).
const (
	V01 Version = iota + 1
	V02
	V03
	V04
	V05
	V06WIP // the draft of 06 that browsers and older relays know; not 06
	V06
	V07WIP
)

// versions holds what is fixed for each version, by Version.
var versions = [...]struct {
	name string
	alpn string
	code uint64
}{
	V01:    {"moq-lite-01", "moql", 0xff0dad01},
	V02:    {"moq-lite-02", "moql", 0xff0dad02},
	V03:    {"moq-lite-03", "moq-lite-03", 0xff0dad03},
	V04:    {"moq-lite-04", "moq-lite-04", 0xff0dad04},
	V05:    {"moq-lite-05", "moq-lite-05", 0xff0dad05},
	V06WIP: {"moq-lite-06-wip", "moq-lite-06-wip", 0xff0dad06},
	V06:    {"moq-lite-06", "moq-lite-06", 0xff0dad06},
	V07WIP: {"moq-lite-07-wip", "moq-lite-07-wip", 0xff0dad07},
}

// ParseVersion returns the version of that name, such as "moq-lite-05". From 03
// on the name is also the ALPN.
func ParseVersion(name string) (Version, error) {
	for v := V01; v <= V07WIP; v++ {
		if versions[v].name == name {
			return v, nil
		}
	}
	return 0, fmt.Errorf("moq-lite version %q: %w", name, wire.ErrValue)
}

// String returns the version's name, such as "moq-lite-06-wip".
func (v Version) String() string {
	if !v.valid() {
		return fmt.Sprintf("moq-lite version %d", uint8(v))
	}
	return versions[v].name
}

// ALPN returns the protocol name that negotiates the version on TLS,
// WebTransport and qmux: its own from 03 on, "moql" for 01 and 02, which are
// then told apart by [ClientSetup]. Empty for no version.
func (v Version) ALPN() string {
	if !v.valid() {
		return ""
	}
	return versions[v].alpn
}

// Code returns the number that stands for the version in a SETUP negotiation
// (§2.5), 0 for no version. 06-wip and 06 share theirs.
func (v Version) Code() uint64 {
	if !v.valid() {
		return 0
	}
	return versions[v].code
}

// Encoding returns how the version writes its varints.
func (v Version) Encoding() wire.Encoding {
	if v >= V07WIP {
		return wire.Leading
	}
	return wire.QUIC
}

func (v Version) valid() bool { return V01 <= v && v <= V07WIP }

// reader returns a Reader over the body of one message of this version.
func (v Version) reader(body []byte) wire.Reader {
	return wire.NewReader(v.Encoding(), body)
}
