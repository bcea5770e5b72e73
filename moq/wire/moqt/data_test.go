package moqt

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// object is an object of a row, with its payload.
type object struct {
	ID      uint64
	Time    Optional[uint64]
	Status  Status
	Payload string
}

// objects reads the rows' notations of objects: a payload, a payload with its
// timestamp, or fields.
func (f fields) objects() (os []object) {
	f.tb.Helper()
	var raws []json.RawMessage
	f.take(&raws, "objects")
	for i, raw := range raws {
		o := object{ID: uint64(i)}
		switch raw[0] {
		case '{':
			in := fields{tb: f.tb}
			if err := json.Unmarshal(raw, &in.left); err != nil {
				f.tb.Fatal(err)
			}
			in.optional("id", "object")
			in.uint("group", "priority")
			o.Time, o.Payload = in.optional("timestamp"), in.string("payload")
			in.done()
		case '[':
			var payload string
			if err := json.Unmarshal(raw, &[]any{&payload, &o.Time.V}); err != nil {
				f.tb.Fatal(err)
			}
			o.Time.OK, o.Payload = true, payload
		default:
			if err := json.Unmarshal(raw, &o.Payload); err != nil {
				f.tb.Fatal(err)
			}
		}
		os = append(os, o)
	}
	return os
}

func checkStream(t *testing.T, row vector) {
	switch row.Message {
	case "SUBGROUP stream":
		checkSubgroupStream(t, row)
	case "FETCH stream", "FETCH stream (fill)":
		checkFetchStream(t, row)
	case "padding stream header":
		if kind, ok, err := ParseUniStream(row.bytes(t), row.Version); kind != UniPadding || !ok || err != nil {
			t.Errorf("%s is stream %d, %t, %v, want padding", row.Hex, kind, ok, err)
		}
	default:
		t.Fatalf("no check for a row of %q", row.Message)
	}
}

func checkSubgroupStream(t *testing.T, row vector) {
	f, v, whole := fields{t, row.Fields}, row.Version, row.bytes(t)
	if strings.HasPrefix(row.Note, "type bit 0x20 does not exist") {
		if h, _, err := ParseSubgroupHeader(whole, v); !errors.Is(err, wire.ErrValue) {
			t.Errorf("ParseSubgroupHeader(%x) = %+v, %v, want %v", whole, h, err, wire.ErrValue)
		}
		return
	}
	h, want := buildSubgroup(f, v)
	f.done()
	if got := appendSubgroupStream(v, h, want); !bytes.Equal(got, whole) {
		t.Errorf("wrote %x, want %x", got, whole)
	}
	gotHeader, got := parseSubgroupStream(t, v, whole)
	if diff := cmp.Diff(h, gotHeader); diff != "" {
		t.Errorf("header: -want +got\n%s", diff)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("objects: -want +got\n%s", diff)
	}
}

func buildSubgroup(f fields, v Version) (h SubgroupHeader, os []object) {
	h = SubgroupHeader{Alias: f.uint("track_alias", "alias"), Group: f.uint("group"), Priority: Some[uint8](128)}
	f.uint("subgroup")
	f.uint("timescale")
	var priority json.RawMessage
	if f.take(&priority, "priority"); string(priority) == `"default"` {
		h.Priority = Optional[uint8]{}
	}
	var flags []string
	if f.take(&flags, "flags") {
		h.EndOfGroup = slices.Contains(flags, "end_of_group")
		h.FirstObject = slices.Contains(flags, "first_object")
	} else { // rows without flags are of streams that peers send
		h.EndOfGroup, h.FirstObject = true, v >= Draft18
	}
	f.take(&h.EndOfGroup, "end_of_group")
	os = f.objects()
	h.Properties = len(os) > 0 && os[0].Time.OK
	switch {
	case strings.HasPrefix(f.string("status"), "END_OF_TRACK"):
		os = append(os, object{ID: uint64(len(os)), Status: StatusEndOfTrack})
	case strings.HasPrefix(f.string("end_status"), "END_OF_GROUP"):
		os = append(os, object{ID: uint64(len(os)), Status: StatusEndOfGroup})
	}
	return h, os
}

func appendSubgroupStream(v Version, h SubgroupHeader, os []object) []byte {
	b, next := h.Append(nil, v), uint64(0)
	for _, o := range os {
		header := Object{Delta: o.ID - next, Size: uint64(len(o.Payload)), Status: o.Status}
		if o.Time.OK {
			header.Properties = AppendTimestamp(nil, v, o.Time.V)
		}
		b = append(header.Append(b, v, h.Properties), o.Payload...)
		next = o.ID + 1
	}
	return b
}

// parseSubgroupStream reads a stream as a session does, a byte more at a time.
func parseSubgroupStream(t *testing.T, v Version, b []byte) (h SubgroupHeader, os []object) {
	t.Helper()
	if kind, ok, err := ParseUniStream(b, v); kind != UniSubgroup || !ok || err != nil {
		t.Fatalf("%x is stream %d, %t, %v", b, kind, ok, err)
	}
	n := grow(t, b, func(b []byte) (n int, err error) {
		h, n, err = ParseSubgroupHeader(b, v)
		return n, err
	})
	b = b[n:]
	for next := uint64(0); len(b) > 0; {
		var o Object
		n := grow(t, b, func(b []byte) (n int, err error) {
			o, n, err = ParseObject(b, v, h.Properties)
			return n, err
		})
		id, ok := ObjectID(next, o.Delta)
		if !ok {
			t.Fatalf("object %d after %d", o.Delta, next)
		}
		end := n + int(o.Size)
		os = append(os, object{id, timestamp(t, o.Properties, v), o.Status, string(b[n:end])})
		b, next = b[end:], id+1
	}
	return h, os
}

func timestamp(t *testing.T, properties []byte, v Version) Optional[uint64] {
	t.Helper()
	ts, ok, err := Timestamp(properties, v)
	if err != nil {
		t.Fatal(err)
	}
	return Optional[uint64]{ts, ok}
}

// grow offers ever longer starts of b to parse until it takes one, and returns how much it took.
func grow(t *testing.T, b []byte, parse func(b []byte) (int, error)) int {
	t.Helper()
	for i := range len(b) + 1 {
		n, err := parse(b[:i:i])
		if err != nil {
			t.Fatalf("parse %x: %v", b[:i], err)
		}
		if n > 0 {
			if n != i {
				t.Fatalf("parse %x took %d bytes, only now", b[:i], n)
			}
			return n
		}
	}
	t.Fatalf("%x never parsed", b)
	return 0
}

func checkFetchStream(t *testing.T, row vector) {
	f, v, whole := fields{t, row.Fields}, row.Version, row.bytes(t)
	h, group := FetchHeader{RequestID: f.uint("request_id")}, f.uint("group")
	f.uint("timescale", "priority")
	f.uint("priority")
	want := f.objects()
	f.done()

	w := FetchObjects{Version: v}
	sent := h.Append(nil, v)
	for _, o := range want {
		properties := AppendTimestamp(nil, v, o.Time.V)
		sent = w.Append(sent, FetchObject{Group: group, Object: o.ID, Properties: properties, Size: uint64(len(o.Payload))})
		sent = append(sent, o.Payload...)
	}
	if !bytes.Equal(sent, whole) {
		t.Errorf("wrote %x, want %x", sent, whole)
	}
	gotHeader, got := parseFetchStream(t, v, whole)
	if diff := cmp.Diff(h, gotHeader); diff != "" {
		t.Errorf("header: -want +got\n%s", diff)
	}
	if len(got) != len(want) {
		t.Fatalf("%d objects, want %d", len(got), len(want))
	}
	for i, o := range got {
		is := object{o.Object, timestamp(t, o.Properties, v), o.Status, o.payload}
		if diff := cmp.Diff(want[i], is); diff != "" || o.Group != group || o.Subgroup != 0 || o.Priority != 0 {
			t.Errorf("object %+v: -want +got\n%s", o, diff)
		}
	}
}

// fetched is an object of a fetch stream with its payload.
type fetched struct {
	FetchObject
	payload string
}

func parseFetchStream(t *testing.T, v Version, b []byte) (h FetchHeader, os []fetched) {
	t.Helper()
	if kind, ok, err := ParseUniStream(b, v); kind != UniFetch || !ok || err != nil {
		t.Fatalf("%x is stream %d, %t, %v", b, kind, ok, err)
	}
	n := grow(t, b, func(b []byte) (n int, err error) {
		h, n, err = ParseFetchHeader(b, v)
		return n, err
	})
	b = b[n:]
	for r := (FetchObjects{Version: v}); len(b) > 0; {
		var o FetchObject
		n := grow(t, b, func(b []byte) (n int, err error) {
			o, n, err = r.Parse(b)
			return n, err
		})
		end := n + int(o.Size)
		os = append(os, fetched{o, string(b[n:end])})
		b = b[end:]
	}
	return h, os
}

func checkDatagram(t *testing.T, row vector) {
	f, v, whole := fields{t, row.Fields}, row.Version, row.bytes(t)
	if padding := row.Message == "PADDING datagram"; padding || IsPadding(whole, v) {
		if !padding || !IsPadding(whole, v) {
			t.Errorf("IsPadding(%x) = %t", whole, !padding)
		}
		return
	}
	want := buildDatagram(f, v)
	f.done()
	if got := want.Append([]byte("ahead"), v); !bytes.Equal(got[5:], whole) {
		t.Errorf("%+v.Append = %x, want %x", want, got[5:], whole)
	}
	got, err := DecodeDatagram(whole, v)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("DecodeDatagram(%x): %v: -want +got\n%s", whole, err, diff)
	}
	for i := range len(whole) - len(want.Payload) {
		if m, err := DecodeDatagram(whole[:i], v); !errors.Is(err, wire.ErrShort) {
			t.Errorf("DecodeDatagram(%x) = %+v, %v, want %v", whole[:i], m, err, wire.ErrShort)
		}
	}
}

func buildDatagram(f fields, v Version) Datagram {
	m := Datagram{
		Alias: f.uint("alias"), Group: f.uint("group"), Object: f.uint("object"), EndOfGroup: f.uint("end_of_group") == 1,
		Status: Status(f.uint("status")),
	}
	var priority json.RawMessage
	if f.take(&priority, "priority"); string(priority) != `"default"` {
		m.Priority = Some[uint8](128)
	}
	if payload := f.string("payload"); payload != "" {
		m.Payload = []byte(payload)
	}
	if in, ok := f.inner("properties"); ok {
		m.Properties = AppendTimestamp(nil, v, in.uint("timestamp"))
		in.done()
	}
	return m
}
