package lite

import (
	"errors"
	"testing"

	"github.com/moqmesh/moqmesh/moq/wire"
)

func TestVersionNames(t *testing.T) {
	tests := []struct {
		v          Version
		name, alpn string
		code       uint64
		enc        wire.Encoding
	}{
		{V01, "moq-lite-01", "moql", 0xff0dad01, wire.QUIC},
		{V02, "moq-lite-02", "moql", 0xff0dad02, wire.QUIC},
		{V03, "moq-lite-03", "moq-lite-03", 0xff0dad03, wire.QUIC},
		{V04, "moq-lite-04", "moq-lite-04", 0xff0dad04, wire.QUIC},
		{V05, "moq-lite-05", "moq-lite-05", 0xff0dad05, wire.QUIC},
		{V06WIP, "moq-lite-06-wip", "moq-lite-06-wip", 0xff0dad06, wire.QUIC},
		{V06, "moq-lite-06", "moq-lite-06", 0xff0dad06, wire.QUIC},
		{V07WIP, "moq-lite-07-wip", "moq-lite-07-wip", 0xff0dad07, wire.Leading},
	}
	for _, tt := range tests {
		if tt.v.String() != tt.name || tt.v.ALPN() != tt.alpn || tt.v.Code() != tt.code || tt.v.Encoding() != tt.enc {
			t.Errorf("%s, %s, %x, %d, want %s, %s, %x, %d",
				tt.v, tt.v.ALPN(), tt.v.Code(), tt.v.Encoding(), tt.name, tt.alpn, tt.code, tt.enc)
		}
		if got, err := ParseVersion(tt.name); got != tt.v || err != nil {
			t.Errorf("ParseVersion(%s) = %s, %v", tt.name, got, err)
		}
	}
}

func TestNoVersion(t *testing.T) {
	for _, name := range []string{"", "moql", "moq-lite-07", "moq-lite-6"} {
		if v, err := ParseVersion(name); !errors.Is(err, wire.ErrValue) {
			t.Errorf("ParseVersion(%q) = %s, %v, want %v", name, v, err, wire.ErrValue)
		}
	}
	for _, v := range []Version{0, V07WIP + 1} {
		if v.ALPN() != "" || v.Code() != 0 || v.String() == "" {
			t.Errorf("version %d: ALPN %q, code %x, name %q", v, v.ALPN(), v.Code(), v.String())
		}
	}
}

// The rows of §1's table, a column a version.
func TestFeatures(t *testing.T) {
	tests := []struct {
		name string
		has  func(Version) bool
		want string // 01 02 03 04 05 06-wip 06 07-wip
	}{
		{"ANNOUNCE_INIT", Version.HasAnnounceInit, "yy------"},
		{"SUBSCRIBE_UPDATE", Version.HasSubscribeUpdate, "--yyyyyy"},
		{"PROBE", Version.HasProbe, "--yyyyyy"},
		{"rtt", Version.hasRTT, "---yyyyy"},
		{"hop ids", Version.HasHopIDs, "---yyyyy"},
		{"exclude hop", Version.HasExcludeHop, "---yy---"},
		{"GOAWAY", Version.HasGoaway, "---yyyyy"},
		{"SETUP", Version.HasSetup, "----yyyy"},
		{"ANNOUNCE_OK", Version.HasAnnounceOK, "----yyyy"},
		{"TRACK_INFO", Version.HasTrackInfo, "----yyyy"},
		{"FETCH", Version.HasFetch, "----yyyy"},
		{"timestamps", Version.HasTimestamps, "----yyyy"},
		{"datagrams", Version.HasDatagrams, "----yyyy"},
		{"announce ids", Version.HasAnnounceIDs, "-----yyy"},
		{"cost", Version.HasCost, "-----yyy"},
		{"warm and cold", Version.hasTwoCosts, "------yy"},
		{"frame bounds", Version.HasFrameBounds, "------yy"},
		{"hidden", Version.HasHidden, "-------y"},
		{"compression", Version.HasCompression, "-------y"},
		{"streams in END", Version.hasStreamCount, "-------y"},
		{"ordered", Version.hasOrdered, "--yyyy--"},
	}
	for _, tt := range tests {
		var got []byte
		for v := V01; v <= V07WIP; v++ {
			got = append(got, map[bool]byte{true: 'y', false: '-'}[tt.has(v)])
		}
		if string(got) != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
