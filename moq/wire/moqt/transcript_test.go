package moqt

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
)

// checkTranscript reads all that went one way on a stream of a session between
// two peers, and writes it again byte by byte. Both declared a hop id. A row may
// be what came later on a stream, as is the GOAWAY of some setup streams.
func checkTranscript(t *testing.T, row vector) {
	f, v, whole := fields{t, row.Fields}, row.Version, row.bytes(t)
	f.string("scenario")
	f.string("ended_by")
	stream := f.string("stream")
	f.done()
	d := Dialect{Version: v, Cluster: true}
	var again []byte
	switch {
	case strings.Contains(stream, "datagram"):
		m, err := DecodeDatagram(whole, v)
		if err != nil {
			t.Fatalf("DecodeDatagram(%x): %v", whole, err)
		}
		again = m.Append(nil, v)
	case strings.Contains(stream, "bidi"), v >= Draft17 && strings.HasSuffix(stream, "uni#0"):
		again = rewriteMessages(t, d, whole)
	default:
		again = rewriteUni(t, d, whole)
	}
	if !bytes.Equal(again, whole) {
		t.Errorf("%s %x is written again as %x", stream, whole, again)
	}
}

func rewriteMessages(t *testing.T, d Dialect, whole []byte) (again []byte) {
	t.Helper()
	for r := bytes.NewReader(whole); ; {
		start := len(whole) - r.Len()
		kind, body, err := ReadMessage(r, d.Version, nil)
		if err == io.EOF {
			return again
		} else if err != nil {
			t.Fatalf("after %x: %v", again, err)
		}
		m, err := Decode(kind, body, d)
		if err != nil {
			t.Fatalf("%x: %v", body, err)
		}
		one := m.Append(nil, d)
		if setup, ok := m.(Setup); ok && d.Version <= Draft15 {
			one = sameOptions(t, d, setup, one, whole[start:len(whole)-r.Len()])
		}
		again = append(again, one...)
	}
}

// sameOptions returns the setup as the peer wrote it, if ours differs in the
// order of options alone, which that peer shuffles up to 15.
func sameOptions(t *testing.T, d Dialect, m Setup, ours, theirs []byte) []byte {
	t.Helper()
	if len(ours) != len(theirs) || !bytes.Equal(sorted(ours), sorted(theirs)) {
		t.Errorf("%+v is written %x, want the same options as %x", m, ours, theirs)
	}
	return theirs
}

func sorted(b []byte) []byte {
	b = slices.Clone(b)
	slices.Sort(b)
	return b
}

func rewriteUni(t *testing.T, d Dialect, whole []byte) []byte {
	t.Helper()
	kind, ok, err := ParseUniStream(whole, d.Version)
	if !ok || err != nil {
		t.Fatalf("%x: %t, %v", whole, ok, err)
	}
	if kind == UniSubgroup {
		h, os := parseSubgroupStream(t, d.Version, whole)
		return appendSubgroupStream(d.Version, h, os)
	}
	h, os := parseFetchStream(t, d.Version, whole)
	b, w := h.Append(nil, d.Version), FetchObjects{Version: d.Version}
	for _, o := range os {
		b = append(w.Append(b, o.FetchObject), o.payload...)
	}
	return b
}
