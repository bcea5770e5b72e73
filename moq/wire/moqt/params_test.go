package moqt

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// allParams has every parameter of every draft.
func allParams() Params {
	return Params{
		DeliveryTimeout: Some(2 * time.Second), Tokens: []Token{
			{Action: TokenRegister, Alias: 7, Type: 1, Value: []byte("cat")},
			{Action: TokenUseValue, Value: []byte("jwt")},
			{Action: TokenUseAlias, Alias: 300},
			{Action: TokenDelete, Alias: 7},
		},
		MaxCacheDuration: Some(time.Minute), RendezvousTimeout: Some(3 * time.Second), SubgroupDeliveryTimeout: Some(time.Second),
		Expires: Some(time.Hour), Largest: Some(Location{427, 5}), FillTimeout: Some(time.Millisecond), PublisherPriority: Some[uint8](255),
		Forward: Some(false), Priority: Some[uint8](200), Filter: Some(Filter{Kind: FilterNextObject}), GroupOrder: Descending,
		Fill: &Fill{
			Timeout: Some(time.Second), Priority: Some[uint8](1), Filter: Some(Filter{Kind: FilterRelative, Back: 1}),
			GroupOrder: Ascending, Ranges: []RangeFilter{{RangePriority, []byte{0, 1}}},
		},
		Ranges:   []RangeFilter{{RangeSubgroup, []byte{0, 1}}, {RangeObject, []byte{1, 2}}, {RangeObject, []byte{1, 3}}, {RangeTrackProperty, []byte{8, 0, 1}}},
		NewGroup: Some[uint64](12), Prefix: Some(TrackNamespace{"live"}), IncludeProperties: Some(false),
		HopPath: []uint64{7, 0, 0, wire.MaxVarint}, RouteCost: Some[uint64](0), Hidden: true,
	}
}

// keep clears what a dialect does not carry, written out by hand from §3.3.
func keep(p Params, d Dialect) Params {
	v := d.Version
	if v > Draft15 {
		p.MaxCacheDuration = Optional[time.Duration]{}
	}
	if v < Draft17 {
		p.RendezvousTimeout = Optional[time.Duration]{}
	}
	if v < Draft18 {
		p.SubgroupDeliveryTimeout, p.FillTimeout, p.Prefix = Optional[time.Duration]{}, Optional[time.Duration]{}, Optional[TrackNamespace]{}
	}
	if v < Draft19 {
		p.Ranges = nil
	}
	if v < Draft20 {
		p.Fill, p.IncludeProperties = nil, Optional[bool]{}
	}
	if v != Draft15 {
		p.PublisherPriority = Optional[uint8]{}
	}
	if v == Draft14 {
		p.Expires, p.Largest, p.Forward, p.Priority = Optional[time.Duration]{}, Optional[Location]{}, Optional[bool]{}, Optional[uint8]{}
		p.Filter, p.GroupOrder, p.NewGroup = Optional[Filter]{}, 0, Optional[uint64]{}
	}
	if v < Draft17 || !d.Cluster {
		p.HopPath, p.RouteCost = nil, Optional[uint64]{}
	}
	return p
}

func TestParamsRoundTrip(t *testing.T) {
	for v := Draft14; v <= Draft22; v++ {
		for _, d := range []Dialect{{Version: v}, {Version: v, Cluster: true}, {Version: v, Prefixed: true}} {
			b := d.appendParams(nil, allParams())
			r := d.reader(b)
			got := r.params(nil)
			if diff := cmp.Diff(keep(allParams(), d), got); diff != "" || r.Close() != nil {
				t.Errorf("%+v: %x: %v: -want +got\n%s", d, b, r.Close(), diff)
			}
			for i := range b {
				if r := d.reader(b[:i]); r.params(nil).Hidden || !errors.Is(r.Close(), wire.ErrShort) {
					t.Errorf("%+v: %x: %v, want %v", d, b[:i], r.Close(), wire.ErrShort)
				}
			}
		}
	}
}

func TestParamsRefused(t *testing.T) {
	tests := []struct {
		name string
		v    Version
		in   string
		want error
	}{
		{"unknown up to 15 is skipped", Draft15, "02" + "3f03aabbcc" + "3e05", nil},
		{"unknown on 16 is skipped", Draft16, "02" + "3e05" + "0103aabbcc", nil},
		{"4 on 16 is nothing", Draft16, "01" + "0405", nil},
		{"unknown on 17", Draft17, "01" + "3e05", wire.ErrValue},
		{"a range filter on 18", Draft18, "01" + "25020003", wire.ErrValue},
		{"hop path without the extension", Draft22, "01" + "c40b570107", wire.ErrValue},
		{"repeated out of order", Draft15, "03" + "1001" + "0801" + "1001", wire.ErrDuplicate},
		{"repeated unknown", Draft15, "02" + "3e01" + "3e01", wire.ErrDuplicate},
		{"repeated", Draft20, "02" + "1001" + "0001", wire.ErrDuplicate},
		{"repeated token", Draft20, "02" + "03020300" + "00020300", nil},
		{"forward 2", Draft16, "01" + "1002", wire.ErrValue},
		{"priority 256", Draft16, "01" + "204100", wire.ErrValue},
		{"priority in two bytes", Draft17, "01" + "204000", wire.ErrTrailing},
		{"group order 0", Draft22, "01" + "2200", wire.ErrValue},
		{"group order 3", Draft22, "01" + "2203", wire.ErrValue},
		{"hidden 2", Draft22, "01" + "c40b5e02", wire.ErrValue},
		{"include properties 2", Draft22, "01" + "3502", wire.ErrValue},
		{"types above 2^64-1", Draft22, "02" + "0205" + "ffffffffffffffffff05", wire.ErrTooLarge},
		{"more than there is room for", Draft22, "05" + "0205", wire.ErrShort},
		{"too many", Draft22, "40" + strings.Repeat("00", 64), wire.ErrTooMany},
		{"largest too long", Draft16, "01" + "0903010203", wire.ErrTrailing},
		{"forward in a fill", Draft22, "01" + "2303" + "011001", wire.ErrValue},
		{"token in a fill", Draft22, "01" + "2305" + "0103020300", wire.ErrValue},
		{"fill in a fill", Draft22, "01" + "2304" + "012301" + "00", wire.ErrValue},
		{"fill and more", Draft22, "01" + "2302" + "00ff", wire.ErrTrailing},
		{"empty prefix field", Draft22, "01" + "340100", wire.ErrValue},
		{"token action 4", Draft22, "01" + "030104", wire.ErrValue},
		{"token without type", Draft22, "01" + "030103", wire.ErrShort},
		{"alias and more", Draft22, "01" + "0303020101", wire.ErrTrailing},
	}
	for _, tt := range tests {
		in, err := hex.DecodeString(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		r := Dialect{Version: tt.v}.reader(in)
		p := r.params(nil)
		if err := r.Close(); !errors.Is(err, tt.want) {
			t.Errorf("%s: %s = %+v, %v, want %v", tt.name, tt.in, p, err, tt.want)
		}
		isToken := strings.HasPrefix(tt.name, "token ") && !strings.HasSuffix(tt.name, "fill") || strings.HasPrefix(tt.name, "alias")
		if got := errors.Is(r.Close(), ErrPair); got != isToken {
			t.Errorf("%s: %v: a malformed pair: %t", tt.name, r.Close(), got)
		}
	}
}

// "Any id above 2^62-1 is malformed"; the rest of §13.5 is in the vectors.
func TestHopBounds(t *testing.T) {
	d := Dialect{Version: Draft22, Cluster: true}
	for in, want := range map[string]error{
		"01c40b5709ff3fffffffffffffff": nil,
		"01c40b5709ff4000000000000000": wire.ErrTooLarge,
	} {
		b, err := hex.DecodeString(in)
		if err != nil {
			t.Fatal(err)
		}
		r := d.reader(b)
		if p := r.params(nil); !errors.Is(r.Close(), want) {
			t.Errorf("%s = %v, %v, want %v", in, p.HopPath, r.Close(), want)
		}
	}
}

// A cost above what a varint of other dialects holds is the largest there is.
func TestRouteCostSaturates(t *testing.T) {
	d := Dialect{Version: Draft22, Cluster: true}
	r := d.reader(d.appendParams(nil, Params{RouteCost: Some[uint64](1 << 63)}))
	if p := r.params(nil); p.RouteCost != Some[uint64](wire.MaxVarint) || r.Close() != nil {
		t.Errorf("cost %+v, %v", p.RouteCost, r.Close())
	}
}

// More milliseconds than a duration holds are the longest.
func TestDurationSaturates(t *testing.T) {
	d := Dialect{Version: Draft22}
	r := d.reader([]byte{1, 0x02, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	if p := r.params(nil); p.DeliveryTimeout.V < 290*365*24*time.Hour || r.Close() != nil {
		t.Errorf("%v, %v", p.DeliveryTimeout, r.Close())
	}
	if got := millis(-time.Second); got != 0 {
		t.Errorf("-1 s is %d ms", got)
	}
}
