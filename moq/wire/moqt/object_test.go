package moqt

import (
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// "Valid: 0x10–0x15, 0x18–0x1D; +0x20 on 15+; +0x40 on 18+."
func TestUniStreamTypes(t *testing.T) {
	for v := Draft14; v <= Draft22; v++ {
		valid := map[uint64]UniStream{0x05: UniFetch}
		for _, bits := range []uint64{0, 0x20, 0x40, 0x60} {
			if bits&0x20 != 0 && v < Draft15 || bits&0x40 != 0 && v < Draft18 {
				continue
			}
			for _, low := range []uint64{0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d} {
				valid[low|bits] = UniSubgroup
			}
		}
		if v >= Draft17 {
			valid[0x2f00] = UniSetup
		}
		if v >= Draft18 {
			valid[0x132b3e28] = UniPadding
		}
		for _, n := range append(sequence(0x200), 0x2f00, 0x132b3e28, 0x132b3e29) {
			b := v.Encoding().AppendVarint(nil, n)
			got, ok, err := ParseUniStream(b, v)
			if want := valid[n]; got != want || ok != (want != 0) || (want == 0) != errors.Is(err, wire.ErrValue) {
				t.Errorf("%s: type %#x is %d, %t, %v, want %d", v, n, got, ok, err, want)
			}
			if got, ok, err := ParseUniStream(b[:len(b)-1], v); ok || err != nil {
				t.Errorf("%s: the start of type %#x is %d, %v", v, n, got, err)
			}
		}
	}
}

func sequence(n int) (ns []uint64) {
	for i := range n {
		ns = append(ns, uint64(i))
	}
	return ns
}

func TestSubgroupHeaders(t *testing.T) {
	tests := []struct {
		v    Version
		h    SubgroupHeader
		want string
	}{
		{Draft14, SubgroupHeader{Alias: 64, Group: 1, Priority: Some[uint8](0)}, "10" + "4040" + "01" + "00"},
		{Draft22, SubgroupHeader{Alias: 64, Group: 1, Priority: Some[uint8](0)}, "10" + "40" + "01" + "00"},
		{Draft22, SubgroupHeader{SubgroupID: SubgroupOfObject, Priority: Some[uint8](9), Properties: true}, "13" + "00" + "00" + "09"},
		{Draft22, SubgroupHeader{SubgroupID: SubgroupExplicit, Subgroup: 128, FirstObject: true, EndOfGroup: true}, "7c" + "00" + "00" + "8080"},
		{Draft17, SubgroupHeader{SubgroupID: SubgroupExplicit, Subgroup: 3}, "34" + "00" + "00" + "03"},
	}
	for _, tt := range tests {
		b := tt.h.Append(nil, tt.v)
		if got := hex.EncodeToString(b); got != tt.want {
			t.Errorf("%s: %+v is written %s, want %s", tt.v, tt.h, got, tt.want)
		}
		var got SubgroupHeader
		grow(t, b, func(b []byte) (n int, err error) {
			got, n, err = ParseSubgroupHeader(b, tt.v)
			return n, err
		})
		if diff := cmp.Diff(tt.h, got); diff != "" {
			t.Errorf("%s: %x: -want +got\n%s", tt.v, b, diff)
		}
	}
	// What a draft cannot say is left out: 14 always has a priority.
	h := SubgroupHeader{FirstObject: true}
	if got, _, err := ParseSubgroupHeader(h.Append(nil, Draft14), Draft14); got != (SubgroupHeader{Priority: Some[uint8](128)}) || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestParseObject(t *testing.T) {
	tests := []struct {
		name       string
		v          Version
		properties bool
		in         string
		want       Object
		err        error
	}{
		{"empty", Draft22, false, "000000", Object{}, nil},
		{"end of group", Draft22, false, "070003", Object{Delta: 7, Status: StatusEndOfGroup}, nil},
		{"does not exist", Draft15, false, "000001", Object{Status: StatusDoesNotExist}, nil},
		{"does not exist on 16", Draft16, false, "000001", Object{}, wire.ErrValue},
		{"status 2", Draft14, false, "000002", Object{}, wire.ErrValue},
		{"status 259", Draft22, false, "00008103", Object{}, wire.ErrValue},
		{"no properties", Draft22, true, "000005", Object{Size: 5}, nil},
		{"properties", Draft22, true, "00" + "021005" + "05", Object{Properties: []byte{0x10, 5}, Size: 5}, nil},
		{"largest payload", Draft22, false, "00" + "f002000000", Object{Size: MaxObject}, nil},
		{"too large", Draft22, false, "00" + "f002000001", Object{}, wire.ErrTooLarge},
		{"properties too large", Draft22, true, "00" + "c10001", Object{}, wire.ErrTooLarge},
		{"id too large", Draft22, false, "ff400000000000000000", Object{}, wire.ErrTooLarge},
		{"nothing", Draft22, false, "", Object{}, nil},
		{"properties on the way", Draft22, true, "00" + "c10000" + "ff", Object{}, nil},
	}
	for _, tt := range tests {
		in, err := hex.DecodeString(tt.in)
		if err != nil {
			t.Fatal(err)
		}
		got, n, err := ParseObject(append(in, "payload"...)[:len(in)], tt.v, tt.properties)
		if diff := cmp.Diff(tt.want, got); diff != "" || !errors.Is(err, tt.err) {
			t.Errorf("%s: ParseObject(%s): %v, want %v: -want +got\n%s", tt.name, tt.in, err, tt.err, diff)
		}
		whole := tt.err == nil && !slices.Contains([]string{"nothing", "properties on the way"}, tt.name)
		if whole && n != len(in) || !whole && n != 0 {
			t.Errorf("%s: took %d of %d bytes", tt.name, n, len(in))
		}
	}
}

func TestObjectID(t *testing.T) {
	for _, tt := range []struct {
		next, delta, want uint64
		ok                bool
	}{
		{0, 0, 0, true},
		{0, 7, 7, true},
		{8, 0, 8, true},
		{8, 2, 10, true},
		{wire.MaxVarint, 0, wire.MaxVarint, true},
		{1, wire.MaxVarint, 0, false},
		{1, 1<<64 - 1, 0, false},
	} {
		if id, ok := ObjectID(tt.next, tt.delta); ok != tt.ok || ok && id != tt.want {
			t.Errorf("ObjectID(%d, %d) = %d, %t, want %d", tt.next, tt.delta, id, ok, tt.want)
		}
	}
}

// The hot path leaves nothing for the collector.
func TestParsingDoesNotAllocate(t *testing.T) {
	v := Draft22
	header := SubgroupHeader{Alias: 300, Group: 1 << 20, SubgroupID: SubgroupExplicit, Subgroup: 3}.Append(nil, v)
	object := Object{Properties: AppendTimestamp(nil, v, 96000), Size: 1200}.Append(nil, v, true)
	fetch := (&FetchObjects{Version: v}).Append(nil, FetchObject{Group: 7, Subgroup: 2, Properties: AppendTimestamp(nil, v, 96000), Size: 1200})
	datagram := Datagram{Alias: 300, Group: 9, Properties: AppendTimestamp(nil, v, 96000), Payload: []byte("payload")}.Append(nil, v)
	buf := make([]byte, 0, 64)
	allocs := testing.AllocsPerRun(100, func() {
		_, _, _ = ParseUniStream(header, v)
		h, n, err := ParseSubgroupHeader(header, v)
		if n == 0 || err != nil {
			t.Fatal(n, err)
		}
		o, n, err := ParseObject(object, v, true)
		if n == 0 || err != nil {
			t.Fatal(n, err)
		}
		if _, n, _ := ParseObject(object[:2], v, true); n != 0 {
			t.Fatal(n)
		}
		if ts, ok, err := Timestamp(o.Properties, v); ts != 96000 || !ok || err != nil {
			t.Fatal(ts, ok, err)
		}
		r := FetchObjects{Version: v}
		if _, n, err := r.Parse(fetch); n == 0 || err != nil {
			t.Fatal(n, err)
		}
		if _, err := DecodeDatagram(datagram, v); err != nil {
			t.Fatal(err)
		}
		buf = o.Append(h.Append(buf[:0], v), v, true)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkParseObject(b *testing.B) {
	in := Object{Properties: AppendTimestamp(nil, Draft22, 96000), Size: 1200}.Append(nil, Draft22, true)
	for b.Loop() {
		o, _, _ := ParseObject(in, Draft22, true)
		if ts, _, _ := Timestamp(o.Properties, Draft22); ts != 96000 {
			b.Fatal(ts)
		}
	}
}
