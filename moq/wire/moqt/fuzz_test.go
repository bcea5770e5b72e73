package moqt

import (
	"bytes"
	stdcmp "cmp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// version makes a draft of any number.
func version(n uint8) Version { return Draft14 + Version(n)%(Draft22-Draft14+1) }

// dialect makes a dialect of any two numbers.
func dialect(draft, flags uint8) Dialect {
	return Dialect{Version: version(draft), Cluster: flags&1 != 0, Prefixed: flags&2 != 0}
}

// fuzzMessages decodes a message and checks that, written again, it is the
// same. Only messages of the named types are looked at.
func fuzzMessages(f *testing.F, types ...Type) {
	for _, row := range readVectors(f) {
		if row.Kind != "control" && row.Kind != "setup" {
			continue
		}
		whole := row.bytes(f)
		kind, body, err := ReadMessage(bytes.NewReader(whole), row.Version, nil)
		if err != nil {
			f.Fatal(err)
		}
		if which := slices.Index(types, kind); which >= 0 {
			f.Add(uint8(which), uint8(row.Version-Draft14), uint8(1), body)
			f.Add(uint8(which), uint8(row.Version-Draft14), uint8(0), body)
		}
	}
	f.Fuzz(func(t *testing.T, which, draft, flags uint8, body []byte) {
		d, kind := dialect(draft, flags), types[int(which)%len(types)]
		if len(body) > MaxBody {
			return
		}
		m, err := Decode(kind, body, d)
		if err != nil {
			return
		}
		if u, ok := m.(UnsubscribeNamespace); ok && u.Prefix != nil {
			return // which is never written
		}
		again, body := readWhole(t, m.Append(nil, d), d.Version)
		same, err := Decode(again, body, d)
		if err != nil {
			t.Fatalf("%+v: %+v does not read again from %x: %v", d, m, body, err)
		}
		if diff := cmp.Diff(m, same, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%+v: -first +again\n%s", d, diff)
		}
	})
}

func FuzzSetup(f *testing.F) {
	fuzzMessages(f, typeClientSetup, typeServerSetup, typeSetup, typeGoaway)
}

func FuzzSubscribe(f *testing.F) {
	fuzzMessages(f, typeSubscribe, typeSubscribeOK, typeRequestUpdate, typeTrackStatus, typePublishStateNotify, typeUnsubscribe)
}

func FuzzPublish(f *testing.F) {
	fuzzMessages(f, typePublish, typePublishOK, typePublishDone, typePublishSkipped, typePublishErr14)
}

func FuzzNamespace(f *testing.F) {
	fuzzMessages(f, typePublishNamespace, typePublishNamespaceDone, typePublishNamespaceStop, typeNamespace, typeNamespaceDone,
		typeSubscribeNamespace, typeSubscribeNamespace18, typeSubscribeTracks, typeUnsubscribeNamespace)
}

func FuzzFetch(f *testing.F) {
	fuzzMessages(f, typeFetch, typeFetchOK, typeFetchCancel, typeFetchErr14)
}

func FuzzAnswer(f *testing.F) {
	fuzzMessages(f, typeRequestOK, typeRequestError, typeSubscribeNsOK14, typeSubscribeNsErr14, typeMaxRequestID, typeRequestsBlocked)
}

// maxStream bounds the streams that are fuzzed, so that one is not most of the
// time.
const maxStream = 2048

// addStreams seeds a target with the data streams of a kind.
func addStreams(f *testing.F, kind UniStream) {
	for _, row := range readVectors(f) {
		whole := row.bytes(f)
		got, _, _ := ParseUniStream(whole, row.Version)
		if row.Kind == "data" && got == kind {
			f.Add(uint8(row.Version-Draft14), whole)
		}
	}
}

func FuzzSubgroupStream(f *testing.F) {
	addStreams(f, UniSubgroup)
	f.Fuzz(func(t *testing.T, draft uint8, b []byte) {
		v := version(draft)
		b = b[:min(len(b), maxStream)]
		h, n, err := ParseSubgroupHeader(b, v)
		if n == 0 || err != nil {
			return
		}
		if same, _, err := ParseSubgroupHeader(h.Append(nil, v), v); same != h || err != nil {
			t.Fatalf("%s: %+v reads again as %+v, %v", v, h, same, err)
		}
		for b = b[n:]; ; {
			o, n, err := ParseObject(b, v, h.Properties)
			if n == 0 || err != nil {
				return
			}
			same, _, err := ParseObject(o.Append(nil, v, h.Properties), v, h.Properties)
			if diff := cmp.Diff(o, same); diff != "" || err != nil {
				t.Fatalf("%s: %v: -first +again\n%s", v, err, diff)
			}
			b = b[n+min(int(o.Size), len(b)-n):]
		}
	})
}

func FuzzFetchStream(f *testing.F) {
	addStreams(f, UniFetch)
	f.Fuzz(func(t *testing.T, draft uint8, b []byte) {
		v := version(draft)
		b = b[:min(len(b), maxStream)]
		h, n, err := ParseFetchHeader(b, v)
		if n == 0 || err != nil {
			return
		}
		if same, _, err := ParseFetchHeader(h.Append(nil, v), v); same != h || err != nil {
			t.Fatalf("%s: %+v reads again as %+v, %v", v, h, same, err)
		}
		r := FetchObjects{Version: v, Descending: draft&0x80 != 0}
		w, again := r, r
		for b = b[n:]; ; {
			o, n, err := r.Parse(b)
			if n == 0 || err != nil || o.RangeEnd != 0 {
				return
			}
			same, _, err := again.Parse(w.Append(nil, o))
			if diff := cmp.Diff(o, same); diff != "" || err != nil {
				t.Fatalf("%s: %v: -first +again\n%s", v, err, diff)
			}
			b = b[n+min(int(o.Size), len(b)-n):]
		}
	})
}

func FuzzDatagram(f *testing.F) {
	for _, row := range readVectors(f) {
		if row.Kind == "datagram" {
			f.Add(uint8(row.Version-Draft14), row.bytes(f))
		}
	}
	f.Fuzz(func(t *testing.T, draft uint8, b []byte) {
		v := version(draft)
		m, err := DecodeDatagram(b, v)
		if err != nil {
			return
		}
		if IsPadding(b, v) {
			t.Fatalf("%x is an object and padding", b)
		}
		same, err := DecodeDatagram(m.Append(nil, v), v)
		if v == Draft15 && m.Status != StatusNormal { // which always has a priority
			m.Priority = Some(m.Priority.or(DefaultPriority))
		}
		if diff := cmp.Diff(m, same); diff != "" || err != nil {
			t.Fatalf("%s: %v: -first +again\n%s", v, err, diff)
		}
	})
}

// FuzzProperties reads properties, the value of a range filter and a path.
func FuzzProperties(f *testing.F) {
	f.Add(uint8(0), []byte{0x10, 0x80, 1, 0x77, 0})
	f.Add(uint8(8), []byte{0x0b, 2, 'i', 'n', 5, 0x40})
	f.Add(uint8(8), []byte{0, 3, 2, 5, 5})
	f.Add(uint8(3), []byte(`live/a\/b/c\\d`))
	f.Fuzz(func(t *testing.T, draft uint8, b []byte) {
		v := version(draft)
		b = b[:min(len(b), maxStream)]
		if ps, err := readAll(b, v); err == nil {
			same, err := readAll(ps.Append(nil, v), v)
			slices.SortStableFunc(ps, func(p, q Property) int { return stdcmp.Compare(p.ID, q.ID) })
			if diff := cmp.Diff(ps, same); diff != "" || err != nil {
				t.Fatalf("%s: %v: -first +again\n%s", v, err, diff)
			}
		}
		kind := RangeSubgroup + RangeKind(draft)%5
		if m, err := (RangeFilter{kind, b}).Ranges(v); err == nil {
			same, err := NewRangeFilter(kind, v, m).Ranges(v)
			if diff := cmp.Diff(m, same); diff != "" || err != nil {
				t.Fatalf("%s: %v: -first +again\n%s", v, err, diff)
			}
		}
		ns := SplitPath(string(b))
		if path, err := ns.Path(); err == nil && !slices.Equal(SplitPath(path), ns) {
			t.Fatalf("%q has path %q, which splits into %q", ns, path, SplitPath(path))
		}
	})
}
