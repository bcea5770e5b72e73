package moqt

import (
	"errors"
	"testing"

	"github.com/moqmesh/moqmesh/moq/wire"
)

func TestVersions(t *testing.T) {
	tests := []struct {
		v    Version
		name string
		alpn string
		code uint64
		enc  wire.Encoding
	}{
		{Draft14, "moq-transport-14", "moq-00", 0xff00000e, wire.QUIC},
		{Draft15, "moq-transport-15", "moqt-15", 0xff00000f, wire.QUIC},
		{Draft16, "moq-transport-16", "moqt-16", 0xff000010, wire.QUIC},
		{Draft17, "moq-transport-17", "moqt-17", 0xff000011, wire.LeadingNo7},
		{Draft18, "moq-transport-18", "moqt-18", 0xff000012, wire.Leading64},
		{Draft22, "moq-transport-22", "moqt-22", 0xff000016, wire.Leading64},
		{0, "moq-transport-0", "", 0, wire.QUIC},
		{Draft22 + 1, "moq-transport-23", "", 0, wire.Leading64},
	}
	for _, tt := range tests {
		if tt.v.String() != tt.name || tt.v.ALPN() != tt.alpn || tt.v.Code() != tt.code || tt.v.Encoding() != tt.enc {
			t.Errorf("%d: %s %q %#x %d, want %+v", tt.v, tt.v, tt.v.ALPN(), tt.v.Code(), tt.v.Encoding(), tt)
		}
		got, err := ParseVersion(tt.name)
		if tt.code != 0 && (got != tt.v || err != nil) || tt.code == 0 && !errors.Is(err, wire.ErrValue) {
			t.Errorf("ParseVersion(%q) = %d, %v", tt.name, got, err)
		}
	}
}

// The features of each draft, a row of §15 each: "x" where a draft has it.
func TestFeatures(t *testing.T) {
	tests := map[string]struct {
		has  func(Version) bool
		want string // from 14 to 22
	}{
		"control stream":    {Version.HasControlStream, "xxx......"},
		"namespace stream":  {Version.HasNamespaceStream, "..xxxxxxx"},
		"request credit":    {Version.HasRequestCredit, "xxx......"},
		"cluster":           {Version.HasCluster, "...xxxxxx"},
		"track properties":  {Version.HasTrackProperties, "..xxxxxxx"},
		"joining fetch":     {Version.HasJoiningFetch, "xxxxxx..."},
		"fill":              {Version.HasFill, "......xxx"},
		"FIN cancels":       {Version.FinCancels, "..xxx...."},
		"two subscriptions": {Version.HasRepeatedSubscriptions, ".....xxxx"},
	}
	for name, tt := range tests {
		var got []byte
		for v := Draft14; v <= Draft22; v++ {
			if tt.has(v) {
				got = append(got, 'x')
			} else {
				got = append(got, '.')
			}
		}
		if string(got) != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
