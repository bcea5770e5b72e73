package moqt

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq/wire"
)

func readAll(block []byte, v Version) (ps Properties, err error) {
	r := ReadProperties(block, v)
	for p, ok := r.Next(); ok; p, ok = r.Next() {
		ps = append(ps, p)
	}
	return ps, r.Err()
}

// Objects that pass from 15 to 16 or back are written in the other form, those
// out of order in order.
func TestPropertiesAcrossDrafts(t *testing.T) {
	ps := Properties{{ID: 0x10, Number: 96000}, {ID: 0x02, Number: 64}, {ID: 0x0b, Bytes: []byte("in")}, {ID: 0x0b}}
	ordered := Properties{ps[1], ps[2], ps[3], ps[0]}
	for v, want := range map[Version]string{
		Draft15: "024040" + "0b02696e" + "0b00" + "1080017700",
		Draft16: "024040" + "0902696e" + "0000" + "0580017700",
		Draft17: "0240" + "0902696e" + "0000" + "05c17700",
	} {
		b := ps.Append([]byte("ahead"), v)[5:]
		if got := hex.EncodeToString(b); got != want {
			t.Errorf("%s: %s, want %s", v, got, want)
		}
		got, err := readAll(b, v)
		if diff := cmp.Diff(ordered, got); diff != "" || err != nil {
			t.Errorf("%s: %x: %v: -want +got\n%s", v, b, err, diff)
		}
	}
	if ps[0].ID != 0x10 {
		t.Error("Append sorted its argument")
	}
}

func TestTimestamp(t *testing.T) {
	tests := []struct {
		v    Version
		in   string
		want Optional[uint64]
		err  error
	}{
		{Draft14, "", Optional[uint64]{}, nil},
		{Draft14, "1005", Some[uint64](5), nil},
		{Draft15, "3c01" + "1005", Some[uint64](5), nil},
		{Draft16, "0b01ff" + "0505", Some[uint64](5), nil},
		{Draft16, "0205", Optional[uint64]{}, nil},
		{Draft16, "02", Optional[uint64]{}, wire.ErrShort},
		{Draft22, "0b05ff", Optional[uint64]{}, wire.ErrShort},
		{Draft22, "0b00" + "ffffffffffffffffff00", Optional[uint64]{}, wire.ErrTooLarge},
	}
	for _, tt := range tests {
		in, err := hex.DecodeString(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		ts, ok, err := Timestamp(in, tt.v)
		if got := (Optional[uint64]{ts, ok}); got != tt.want || !errors.Is(err, tt.err) || errors.Is(err, ErrPair) != (tt.err != nil) {
			t.Errorf("%s: Timestamp(%s) = %+v, %v, want %+v, %v", tt.v, tt.in, got, err, tt.want, tt.err)
		}
	}
}

func TestTrackProperties(t *testing.T) {
	tests := []struct {
		name string
		in   Properties
		want error
	}{
		{"none", nil, nil},
		{"unknown are kept", Properties{{ID: 0x4000, Number: 1 << 50}, {ID: 0x7f9d, Bytes: []byte("grease")}}, nil},
		{"highest priority", Properties{{ID: PropertyPriority, Number: 255}}, nil},
		{"no priority", Properties{{ID: PropertyPriority, Number: 256}}, wire.ErrValue},
		{"no order", Properties{{ID: PropertyGroupOrder, Number: 0}}, wire.ErrValue},
		{"no order either", Properties{{ID: PropertyGroupOrder, Number: 3}}, wire.ErrValue},
		{"no flag", Properties{{ID: PropertyDynamicGroups, Number: 2}}, wire.ErrValue},
		{"as large as may be", Properties{{ID: 1, Bytes: make([]byte, MaxTrackProperties-4)}}, nil},
		{"as many as may be", make(Properties, MaxTrackPairs), nil},
		{"too many", make(Properties, MaxTrackPairs+1), wire.ErrTooMany},
		{"too large", Properties{{ID: 1, Bytes: make([]byte, MaxTrackProperties-3)}}, wire.ErrTooLarge},
	}
	d := Dialect{Version: Draft20}
	for _, tt := range tests {
		in := SubscribeOK{Alias: 1, Properties: tt.in}
		kind, body := readWhole(t, in.Append(nil, d), d.Version)
		got, err := Decode(kind, body, d)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		} else if diff := cmp.Diff(Message(in), got); err == nil && diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
	}
}

// "Types 0x4000–0x7FFF on a track (18+) are mandatory."
func TestMandatoryProperties(t *testing.T) {
	tests := []struct {
		id   uint64
		v    Version
		want bool
	}{
		{0x3fff, Draft18, false},
		{0x4000, Draft17, false},
		{0x4000, Draft18, true},
		{0x7fff, Draft22, true},
		{0x8000, Draft22, false},
	}
	for _, tt := range tests {
		ps := Properties{{ID: PropertyTimescale, Number: 1}, {ID: tt.id}}
		id, ok := ps.Mandatory(tt.v)
		if ok != tt.want || ok && id != tt.id {
			t.Errorf("%s: %#x is mandatory: %#x, %t", tt.v, tt.id, id, ok)
		}
		if n, ok := ps.Number(PropertyTimescale); n != 1 || !ok {
			t.Errorf("timescale %d, %t", n, ok)
		}
		if n, ok := ps.Number(PropertyPriority); ok {
			t.Errorf("priority %d", n)
		}
	}
}

// Drafts before 16 have no track properties: they are dropped, and what a peer
// appends is an error.
func TestNoTrackProperties(t *testing.T) {
	d := Dialect{Version: Draft15}
	ok := SubscribeOK{Alias: 1, Properties: Properties{{ID: PropertyTimescale, Number: 1}}}
	kind, body := readWhole(t, ok.Append(nil, d), d.Version)
	if !bytes.Equal(body, []byte{0, 1, 0}) {
		t.Errorf("%x", body)
	}
	if m, err := Decode(kind, append(body, 0x08, 0x01), d); !errors.Is(err, wire.ErrTrailing) {
		t.Errorf("%+v, %v", m, err)
	}
}
