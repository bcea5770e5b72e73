package qmux

// Version is one of the framings. The zero value is Legacy.
type Version uint8

const (
	// Legacy is the framing from before qmux: one frame a message, no flow
	// control, no datagrams, no parameters (§2.6.6).
	Legacy Version = iota
	// V00 is qmux-00: one frame a message.
	V00
	// V01 is qmux-01: a record of several frames a message.
	V01
	// V02 is qmux-02: V01 with stricter rules on parameters and pings.
	V02
)

var tokens = [...]string{Legacy: "webtransport", V00: "qmux-00", V01: "qmux-01", V02: "qmux-02"}

// String returns the token that names v in negotiation, such as "qmux-01".
func (v Version) String() string { return tokens[v] }

// ParseVersion is the inverse of String; ok is false for an unknown token.
func ParseVersion(token string) (v Version, ok bool) {
	for i, t := range tokens {
		if t == token {
			return Version(i), true
		}
	}
	return 0, false
}

// Records says whether a message may hold several frames. Only such versions
// have PADDING, DATAGRAM and QX_PING.
func (v Version) Records() bool { return v >= V01 }

const (
	// MaxRecord is the largest record, in bytes, that every receiver takes: the
	// default and the minimum of max_record_size.
	MaxRecord = 16382
	// MaxStreamPayload is the most stream data, in bytes, to put in one STREAM
	// frame; older receivers refuse more.
	MaxStreamPayload = 16352
)
