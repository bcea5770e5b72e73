package moqt

import (
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// "Valid types: 14 0x00–0x07, 0x20, 0x21 · 15 0x00–0x0F, 0x20, 0x21, 0x24, 0x25
// · 16+ 0x00–0x0F, 0x20, 0x21, 0x24, 0x25, 0x28, 0x29, 0x2C, 0x2D."
func TestDatagramTypes(t *testing.T) {
	for v := Draft14; v <= Draft22; v++ {
		valid := map[uint64]bool{0x20: true, 0x21: true}
		for n := range uint64(0x10) {
			valid[n] = n < 8 || v >= Draft15
		}
		if v >= Draft15 {
			valid[0x24], valid[0x25] = true, true
		}
		if v >= Draft16 {
			valid[0x28], valid[0x29], valid[0x2c], valid[0x2d] = true, true, true, true
		}
		for _, n := range append(sequence(0x100), 0x132b3e29) {
			if got := isDatagram(n, v); got != valid[n] {
				t.Errorf("%s: type %#x: %t", v, n, got)
			}
		}
	}
}

func TestDatagramRoundTrip(t *testing.T) {
	for v := Draft14; v <= Draft22; v++ {
		for _, object := range []uint64{0, 5} {
			for _, priority := range []Optional[uint8]{{}, Some[uint8](7)} {
				for _, properties := range [][]byte{nil, {0x10, 5}} {
					checkDatagramRoundTrip(t, v, Datagram{Alias: 1, Group: 2, Object: object, Priority: priority, Properties: properties})
					checkDatagramRoundTrip(t, v, Datagram{Object: object, Priority: priority, Properties: properties, Status: StatusEndOfGroup})
					checkDatagramRoundTrip(t, v, Datagram{Object: object, Priority: priority, Properties: properties, EndOfGroup: true, Payload: []byte("x")})
				}
			}
		}
	}
}

func checkDatagramRoundTrip(t *testing.T, v Version, m Datagram) {
	t.Helper()
	b := m.Append(nil, v)
	if v == Draft14 || v == Draft15 && m.Status != StatusNormal { // which cannot leave it out
		m.Priority = Some(m.Priority.or(DefaultPriority))
	}
	got, err := DecodeDatagram(b, v)
	if diff := cmp.Diff(m, got); diff != "" || err != nil {
		t.Errorf("%s: %x: %v: -want +got\n%s", v, b, err, diff)
	}
}

func TestDatagramRefused(t *testing.T) {
	tests := []struct {
		v    Version
		in   string
		want error
	}{
		{Draft22, "", wire.ErrShort},
		{Draft22, "06", wire.ErrShort},
		{Draft22, "0700008000", wire.ErrValue},                  // properties of no length
		{Draft22, "2400008003" + "00", wire.ErrTrailing},        // payload behind a status
		{Draft22, "2400008002", wire.ErrValue},                  // status 2
		{Draft22, "22", wire.ErrValue},                          // end of group with a status
		{Draft22, "40", wire.ErrValue},                          // no such bit
		{Draft18, "f0132b3e29", wire.ErrValue},                  // padding is no object
		{Draft22, "0400ff4000000000000000", wire.ErrTooLarge},   // group
		{Draft22, "07000080" + "c10001" + "", wire.ErrTooLarge}, // properties
	}
	for _, tt := range tests {
		in, err := hex.DecodeString(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := DecodeDatagram(in, tt.v); !errors.Is(err, tt.want) {
			t.Errorf("%s: %s = %s, %v, want %v", tt.v, tt.in, fmt.Sprintf("%+v", m), err, tt.want)
		}
	}
	padding := []byte{0xf0, 0x13, 0x2b, 0x3e, 0x29, 1, 2}
	if IsPadding(padding, Draft17) || !IsPadding(padding, Draft18) || IsPadding(padding[:4], Draft18) || IsPadding(nil, Draft22) {
		t.Error("padding is told by its type, from 18 on")
	}
}
