package moqt

import (
	"encoding/hex"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Streams of objects, each as it is written: by hand from §8.3.
func TestFetchObjects(t *testing.T) {
	type step struct {
		o    FetchObject
		want string
	}
	first := FetchObject{Group: 7, Subgroup: 2, Object: 3, Priority: 9, Size: 1}
	tests := map[string]struct {
		versions   []Version
		descending bool
		steps      []step
	}{
		"fixed": {[]Version{Draft14}, false, []step{
			{first, "07" + "02" + "03" + "09" + "00" + "01"},
			{FetchObject{Group: 7, Object: 4, Status: StatusEndOfTrack}, "07" + "00" + "04" + "00" + "00" + "00" + "04"},
		}},
		"statuses": {[]Version{Draft15}, false, []step{
			{first, "1f" + "07" + "02" + "03" + "09" + "01"},
			{FetchObject{Group: 7, Subgroup: 2, Object: 4, Priority: 9}, "01" + "00" + "00"},
			{FetchObject{Group: 7, Subgroup: 3, Object: 5, Priority: 9, Status: StatusEndOfGroup}, "02" + "00" + "03"},
		}},
		"plain ids": {[]Version{Draft16, Draft17}, false, []step{
			{first, "1f" + "07" + "02" + "03" + "09" + "01"},
			{FetchObject{Group: 7, Subgroup: 2, Object: 4, Priority: 9}, "01" + "00"},
			{FetchObject{Group: 7, Subgroup: 3, Object: 6, Priority: 8, Size: 2}, "16" + "06" + "08" + "02"},
			{FetchObject{Group: 9, Subgroup: 0, Object: 0, Priority: 8, Properties: []byte{0x10, 5}}, "2c" + "09" + "00" + "021005" + "00"},
		}},
		"distances": {[]Version{Draft18, Draft22}, false, []step{
			{first, "1f" + "07" + "02" + "03" + "09" + "01"},
			{FetchObject{Group: 7, Subgroup: 3, Object: 6, Priority: 9, Size: 2}, "06" + "03" + "02"},
			{FetchObject{Group: 8, Subgroup: 3, Object: 0, Priority: 9}, "0d" + "00" + "00" + "00"},
			{FetchObject{Group: 10, Subgroup: 1, Object: 5, Priority: 9}, "0f" + "01" + "01" + "05" + "00"},
		}},
		"newest first": {[]Version{Draft18, Draft22}, true, []step{
			{first, "1f" + "07" + "02" + "03" + "09" + "01"},
			{FetchObject{Group: 6, Subgroup: 2, Object: 0, Priority: 9}, "0d" + "00" + "00" + "00"},
			{FetchObject{Group: 0, Subgroup: 2, Object: 0, Priority: 9}, "0d" + "05" + "00" + "00"},
		}},
		"datagrams": {[]Version{Draft17, Draft22}, false, []step{
			{FetchObject{Group: 7, Datagram: true, Size: 1}, "5c" + "07" + "00" + "00" + "01"},
			{FetchObject{Group: 7, Subgroup: 1, Object: 1, Size: 1}, "03" + "01" + "01"},
			{FetchObject{Group: 7, Datagram: true, Object: 2, Size: 1}, "40" + "01"},
			{FetchObject{Group: 7, Subgroup: 1, Object: 3, Size: 1}, "01" + "01"},
		}},
		"a datagram on 16": {[]Version{Draft16}, false, []step{
			{FetchObject{Group: 7, Datagram: true, Size: 1}, "405c" + "07" + "00" + "00" + "01"},
		}},
	}
	for name, tt := range tests {
		for _, v := range tt.versions {
			w := FetchObjects{Version: v, Descending: tt.descending}
			r := w
			for _, step := range tt.steps {
				b := w.Append([]byte("ahead"), step.o)[5:]
				if got := hex.EncodeToString(b); got != step.want {
					t.Errorf("%s: %s: %+v is written %s, want %s", v, name, step.o, got, step.want)
				}
				var got FetchObject
				grow(t, b, func(b []byte) (n int, err error) {
					got, n, err = r.Parse(b)
					return n, err
				})
				if diff := cmp.Diff(step.o, got); diff != "" {
					t.Errorf("%s: %s: %x: -want +got\n%s", v, name, b, diff)
				}
			}
		}
	}
}

func TestFetchObjectsRefused(t *testing.T) {
	const first = "1c" + "07" + "03" + "09" + "01" // group 7, subgroup 0, object 3
	tests := []struct {
		name       string
		v          Version
		descending bool
		before, in string
		want       error
	}{
		{"no group at the start", Draft16, false, "", "14" + "03" + "09" + "01", wire.ErrValue},
		{"no object at the start", Draft16, false, "", "18" + "07" + "09" + "01", wire.ErrValue},
		{"no priority at the start", Draft16, false, "", "0c" + "07" + "03" + "01", wire.ErrValue},
		{"same subgroup at the start", Draft16, false, "", "1d" + "07" + "03" + "09" + "01", wire.ErrValue},
		{"next subgroup at the start", Draft16, false, "", "1e" + "07" + "03" + "09" + "01", wire.ErrValue},
		{"next subgroup after a datagram", Draft17, false, "5c07000001", "02" + "01", wire.ErrValue},
		{"datagram on 15", Draft15, false, first, "40" + "01", wire.ErrValue},
		{"flags 0x80", Draft16, false, first, "4080", wire.ErrValue},
		{"flags of 15 are a byte", Draft15, false, first, "8c", wire.ErrValue},
		{"timed out before 20", Draft19, false, first, "820c" + "0000", wire.ErrValue},
		{"payload too large", Draft22, false, first, "00" + "f002000001", wire.ErrTooLarge},
		{"properties too large", Draft22, false, first, "20" + "c10001", wire.ErrTooLarge},
		{"group too large", Draft22, false, first, "0c" + "ff3fffffffffffffff" + "00", wire.ErrTooLarge},
		{"object too large", Draft22, false, first, "04" + "ff3fffffffffffffff" + "00", wire.ErrTooLarge},
		{"object too large for the next", Draft22, false, "1c07ff3fffffffffffffff0901", "00" + "00", wire.ErrTooLarge},
		{"below group 0", Draft22, true, first, "0c" + "07" + "00", wire.ErrValue},
		{"status on 15", Draft15, false, first, "00" + "00" + "02", wire.ErrValue},
	}
	for _, tt := range tests {
		r := FetchObjects{Version: tt.v, Descending: tt.descending}
		before, err := hex.DecodeString(tt.before)
		if err != nil {
			t.Fatal(err)
		}
		if _, n, err := r.Parse(before); n != len(before) || err != nil {
			t.Fatalf("%s: %d, %v", tt.name, n, err)
		}
		in, err := hex.DecodeString(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		was := r
		if o, n, err := r.Parse(in); !errors.Is(err, tt.want) || n != 0 || r != was {
			t.Errorf("%s: %+v, %d, %v, want %v; changed: %t", tt.name, o, n, err, tt.want, r != was)
		}
	}
}

// The end of a range is followed by objects that may refer to its location, but
// not to its subgroup or priority, of which it has none.
func TestFetchRangeEnds(t *testing.T) {
	tests := []struct {
		v    Version
		in   string
		want FetchObject
	}{
		{Draft16, "408c" + "09" + "05", FetchObject{Group: 9, Object: 5, RangeEnd: EndNonExistent}},
		{Draft17, "810c" + "09" + "05", FetchObject{Group: 9, Object: 5, RangeEnd: EndUnknown}},
		{Draft18, "808c" + "01" + "05", FetchObject{Group: 9, Object: 5, RangeEnd: EndNonExistent}},
		{Draft20, "820c" + "01" + "05", FetchObject{Group: 9, Object: 5, RangeEnd: EndTimedOut}},
	}
	for _, tt := range tests {
		r := FetchObjects{Version: tt.v}
		if _, n, err := r.Parse([]byte{0x1f, 7, 2, 3, 9, 1}); n == 0 || err != nil {
			t.Fatal(n, err)
		}
		in, err := hex.DecodeString(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		got, n, err := r.Parse(in)
		if diff := cmp.Diff(tt.want, got); diff != "" || n != len(in) || err != nil {
			t.Errorf("%s: %s: %d, %v: -want +got\n%s", tt.v, tt.in, n, err, diff)
		}
		want := FetchObject{Group: 9, Object: 6, Subgroup: 2, Priority: 9}
		if got, n, err := r.Parse([]byte{0x01, 0}); n != 2 || err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %+v, %d, %v, want %+v", tt.v, got, n, err, want)
		}
	}
}
