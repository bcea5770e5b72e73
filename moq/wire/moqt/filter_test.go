package moqt

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// A filter as the whole of parameter 0x21, by hand from §7.
func TestFilterLayouts(t *testing.T) {
	start := Location{7, 3}
	tests := []struct {
		f        Filter
		v14, v15 string // 14's is a field, without length
		v17      string
		v20, v22 string
		reads    Filter // what is read again up to 19, where that differs
	}{
		{f: Filter{}, v14: "030000", v15: "03030000", v17: "03030000", v20: "00", v22: "00", reads: Filter{Kind: FilterAbsolute}},
		{f: Filter{Kind: FilterNextObject}, v14: "02", v15: "0102", v17: "0102", v20: "020000", v22: "05"},
		{f: Filter{Kind: FilterRelative}, v14: "01", v15: "0101", v17: "0101", v20: "0100", v22: "0100"},
		{
			f: Filter{Kind: FilterRelative, Back: 3}, v14: "02", v15: "0102", v17: "0102", v20: "0103", v22: "0103",
			reads: Filter{Kind: FilterNextObject},
		},
		{f: Filter{Kind: FilterAbsolute, Start: start}, v14: "030703", v15: "03030703", v17: "03030703", v20: "020703", v22: "020703"},
		{
			f:   Filter{Kind: FilterAbsolute, Start: start, EndGroup: Some[uint64](9)},
			v14: "04070309", v15: "0404070309", v17: "0404070302", v20: "03070302", v22: "03070302",
		},
		{
			f:   Filter{Kind: FilterAbsolute, Start: start, EndGroup: Some[uint64](9), EndObject: Some[uint64](4)},
			v14: "04070309", v15: "0404070309", v17: "0404070302", v20: "0407030204", v22: "0407030204",
			reads: Filter{Kind: FilterAbsolute, Start: start, EndGroup: Some[uint64](9)},
		},
		{f: Filter{Kind: FilterAbsolute}, v14: "030000", v15: "03030000", v17: "03030000", v20: "00", v22: "020000"},
	}
	for _, tt := range tests {
		for v := Draft14; v <= Draft22; v++ {
			want := map[Version]string{14: tt.v14, 15: tt.v15, 16: tt.v15, 17: tt.v17, 18: tt.v17, 19: tt.v17, 20: tt.v20, 21: tt.v20, 22: tt.v22}[v]
			reads := tt.f
			switch {
			case v <= Draft19 && tt.reads != (Filter{}):
				reads = tt.reads
			case tt.f == Filter{Kind: FilterAbsolute} && (v == Draft20 || v == Draft21):
				reads = Filter{}
			}
			checkFilter(t, v, tt.f, want, reads)
		}
	}
}

func checkFilter(t *testing.T, v Version, f Filter, want string, reads Filter) {
	t.Helper()
	d := Dialect{Version: v}
	b := d.appendParams(nil, Params{Filter: Some(f)})
	if v == Draft14 {
		b = f.appendTagged(nil, v)
	} else {
		b = b[2:] // behind the count and 0x21
	}
	if got := hex.EncodeToString(b); got != want {
		t.Errorf("%s: %+v is written %s, want %s", v, f, got, want)
	}
	r := d.reader(b)
	read := r.filter
	if v == Draft14 {
		read = r.taggedFilter
	}
	got := read()
	if diff := cmp.Diff(reads, got); diff != "" || r.Close() != nil {
		t.Errorf("%s: %x: %v: -want +got\n%s", v, b, r.Close(), diff)
	}
}

func TestFilterRefused(t *testing.T) {
	tests := []struct {
		v    Version
		in   string
		want error
	}{
		{Draft16, "0100", wire.ErrValue},
		{Draft16, "0105", wire.ErrValue},
		{Draft16, "0404070302", wire.ErrValue}, // ends before it starts
		{Draft17, "020407", wire.ErrShort},
		{Draft16, "020200", wire.ErrTrailing},
		{Draft20, "050703020401", wire.ErrTrailing},
		{Draft20, "0107ff", wire.ErrTrailing}, // behind the filter
		{Draft20, "0181", wire.ErrShort},
		{Draft22, "06", wire.ErrValue},
		{Draft22, "040703", wire.ErrShort},
	}
	for _, tt := range tests {
		in, err := hex.DecodeString(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		r := Dialect{Version: tt.v}.reader(in)
		if f := r.filter(); !errors.Is(r.Close(), tt.want) {
			t.Errorf("%s: %s = %+v, %v, want %v", tt.v, tt.in, f, r.Close(), tt.want)
		}
	}
}

// Numbers that no dialect has read as the largest there is.
func TestFilterSaturates(t *testing.T) {
	want := Filter{
		Kind: FilterAbsolute, Start: Location{Group: wire.MaxVarint},
		EndGroup: Some[uint64](wire.MaxVarint), EndObject: Some[uint64](wire.MaxVarint),
	}
	in, err := hex.DecodeString("04" + "ffffffffffffffffff" + "00" + "ffffffffffffffffff" + "ff4000000000000000")
	if err != nil {
		t.Fatal(err)
	}
	r := Dialect{Version: Draft22}.reader(in)
	if got := r.filter(); got != want || r.Close() != nil {
		t.Errorf("%+v, %v, want %+v", got, r.Close(), want)
	}
}

// `3–5, 10–15` in set 0: `00 03 02 05 05`.
func TestRangeFilter(t *testing.T) {
	tests := []struct {
		kind RangeKind
		m    Ranges
		want string
	}{
		{RangeObject, Ranges{Ranges: []Range{{3, Some[uint64](5)}, {10, Some[uint64](15)}}}, "0003020505"},
		{RangePriority, Ranges{Set: 2, Ranges: []Range{{Start: 7}}}, "0207"},
		{RangeSubgroup, Ranges{Ranges: []Range{{0, Some[uint64](0)}, {Start: 300}}}, "000000812c"},
		{RangeTrackProperty, Ranges{Property: 0x22, Set: 1, Ranges: []Range{{1, Some[uint64](1)}}}, "22010100"},
	}
	for _, tt := range tests {
		f := NewRangeFilter(tt.kind, Draft19, tt.m)
		if got := hex.EncodeToString(f.Value); got != tt.want {
			t.Errorf("%+v is written %s, want %s", tt.m, got, tt.want)
		}
		got, err := f.Ranges(Draft19)
		if diff := cmp.Diff(tt.m, got); diff != "" || err != nil {
			t.Errorf("%s: %v: -want +got\n%s", tt.want, err, diff)
		}
	}
}

// A malformed range filter fails its request, so decoding the message takes it.
func TestRangeFilterRefused(t *testing.T) {
	d := Dialect{Version: Draft20}
	tests := []struct {
		kind  RangeKind
		value string
		want  error
	}{
		{RangeObject, "", wire.ErrShort},
		{RangeObject, "00", wire.ErrShort},
		{RangeObject, "0081", wire.ErrShort},
		{RangeObjectProperty, "2200", wire.ErrShort},
		{RangeObject, "00" + "ffffffffffffffffff" + "01", wire.ErrTooLarge},
	}
	for _, tt := range tests {
		value, err := hex.DecodeString(tt.value)
		if err != nil {
			t.Fatal(err)
		}
		in := Subscribe{Track: Track{Name: "t"}, Params: Params{Ranges: []RangeFilter{{tt.kind, value}}}}
		kind, body := readWhole(t, in.Append(nil, d), d.Version)
		m, err := Decode(kind, body, d)
		if err != nil {
			t.Fatalf("Decode(%x): %v", body, err)
		}
		got := m.(Subscribe).Params.Ranges
		if len(got) != 1 || got[0].Kind != tt.kind || !bytes.Equal(got[0].Value, value) {
			t.Errorf("%x reads as %v", body, got)
		}
		if m, err := got[0].Ranges(d.Version); !errors.Is(err, tt.want) {
			t.Errorf("%s: %+v, %v, want %v", tt.value, m, err, tt.want)
		}
	}
}
