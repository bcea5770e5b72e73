package moqt

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq/wire"
)

func allOptions() Setup {
	return Setup{
		Path: "/live?x=y", Authority: "relay.example", MaxRequestID: 1 << 32, Tokens: []Token{{Action: TokenUseValue, Value: []byte("a")}, {Action: TokenUseValue, Value: []byte("b")}},
		MaxTokenCache: 64, MaxFilterRanges: 3, MaxRequestUpdates: Some[uint64](0), Implementation: "moqmesh", HopID: Some[uint64](0),
		RelayHops: Some[uint64](42), RelayCost: Some[uint64](0), Solicit: Some(false), Hidden: true,
	}
}

func TestSetupRoundTrip(t *testing.T) {
	for v := Draft14; v <= Draft22; v++ {
		for _, server := range []bool{false, true} {
			in := allOptions()
			in.Server = server
			if v == Draft14 {
				in.Versions = []uint64{Draft14.Code()}
			}
			want := in
			if v > Draft16 {
				want.Server, want.MaxRequestID = false, 0
			} else {
				want.HopID, want.RelayHops, want.RelayCost = Optional[uint64]{}, Optional[uint64]{}, Optional[uint64]{}
			}
			if v < Draft19 {
				want.MaxFilterRanges, want.MaxRequestUpdates = 0, Optional[uint64]{}
			}
			d := Dialect{Version: v}
			kind, body := readWhole(t, in.Append(nil, d), v)
			got, err := Decode(kind, body, d)
			if diff := cmp.Diff(Message(want), got); diff != "" || err != nil {
				t.Errorf("%s: %v: -want +got\n%s", v, err, diff)
			}
		}
	}
}

func TestSetupOptions(t *testing.T) {
	tests := []struct {
		name string
		v    Version
		in   string
		want Setup
		err  error
	}{
		{"nothing", Draft22, "", Setup{}, nil},
		{"nothing counted", Draft16, "00", Setup{}, nil},
		{"no count", Draft16, "", Setup{}, wire.ErrShort},
		{"unknown are skipped", Draft22, "0a05" + "0102aabb" + "0003ffffff", Setup{}, nil},
		{"of other drafts", Draft22, "0205" + "0401" + "0201", Setup{MaxRequestUpdates: Some[uint64](1), MaxFilterRanges: 1}, nil},
		{"the extension before 17", Draft16, "01" + "80040b54" + "07", Setup{}, nil},
		{"repeated path", Draft22, "010161" + "000161", Setup{}, wire.ErrDuplicate},
		{"repeated path on 15", Draft15, "03" + "010161" + "0405" + "010161", Setup{}, wire.ErrDuplicate},
		{"solicit 2", Draft22, "c40b5a02", Setup{Solicit: Some(true)}, nil},
		{"hidden 0", Draft22, "c40b5c00", Setup{}, nil},
		{"hop id withheld", Draft22, "c40b5400", Setup{HopID: Some[uint64](0)}, nil},
		{"hop id too large", Draft22, "c40b54ff4000000000000000", Setup{}, wire.ErrTooLarge},
		{"relay hops", Draft22, "c40b5502812c", Setup{RelayHops: Some[uint64](300)}, nil},
		{"relay hops empty", Draft22, "c40b5500", Setup{}, nil},
		{"relay hops cut", Draft22, "c40b550181", Setup{}, nil},
		{"relay hops and more", Draft22, "c40b55020101", Setup{}, nil},
		{"relay hops too large", Draft22, "c40b5509ff4000000000000000", Setup{}, nil},
		{"relay cost saturates", Draft22, "c40b56ff8000000000000000", Setup{RelayCost: Some[uint64](wire.MaxVarint)}, nil},
		{"path not UTF-8", Draft22, "0101ff", Setup{}, wire.ErrUTF8},
		{"malformed token", Draft22, "030103", Setup{}, ErrPair},
		{"most options", Draft22, "0a00" + strings.Repeat("0000", MaxOptions-1), Setup{}, nil},
		{"too many", Draft22, "0a00" + strings.Repeat("0000", MaxOptions), Setup{}, wire.ErrTooMany},
		{"too many counted", Draft16, "4040" + strings.Repeat("0000", 64), Setup{}, wire.ErrTooMany},
	}
	for _, tt := range tests {
		body, err := hex.DecodeString(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		kind := typeSetup
		if tt.v <= Draft16 {
			kind = typeClientSetup
		}
		got, err := Decode(kind, body, Dialect{Version: tt.v})
		if !errors.Is(err, tt.err) {
			t.Errorf("%s: Decode(%s): %v, want %v", tt.name, tt.in, err, tt.err)
		} else if diff := cmp.Diff(Message(tt.want), got); err == nil && diff != "" {
			t.Errorf("%s: Decode(%s): -want +got\n%s", tt.name, tt.in, diff)
		}
	}
}

func TestSetupVersionsBounded(t *testing.T) {
	d := Dialect{Version: Draft14}
	in := Setup{Versions: make([]uint64, MaxVersions+1)}
	kind, body := readWhole(t, in.Append(nil, d), Draft14)
	if m, err := Decode(kind, body, d); !errors.Is(err, wire.ErrTooMany) {
		t.Errorf("%d versions: %+v, %v", len(in.Versions), m, err)
	}
}
