package moqt

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// vector is one row of testdata/moqt.json: bytes that another implementation
// wrote for the fields, or that were composed from a draft's text.
type vector struct {
	Version Version
	Message string
	Fields  map[string]json.RawMessage
	Hex     string
	Source  string
	Kind    string
	Expect  string // "" and "accept", or how the input fails
	Note    string
	Context string
}

func readVectors(tb testing.TB) []vector {
	tb.Helper()
	raw, err := os.ReadFile("testdata/moqt.json")
	if err != nil {
		tb.Fatal(err)
	}
	var rows []vector
	if err := json.Unmarshal(raw, &rows); err != nil {
		tb.Fatal(err)
	}
	return rows
}

// rejected reports whether the row is input that must fail. Ranges that end
// before they start are such input too: a peer's slip that nobody sends.
func (row vector) rejected() bool {
	return row.Expect != "" && row.Expect != "accept" || strings.HasPrefix(row.Note, "End Group written as a delta")
}

func (row vector) bytes(tb testing.TB) []byte {
	tb.Helper()
	b, err := hex.DecodeString(row.Hex)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// dialect returns the dialect of the session the row is from.
func (row vector) dialect() Dialect {
	_, hops := row.Fields["hop_path"]
	_, cost := row.Fields["route_cost"]
	return Dialect{
		Version:  row.Version,
		Cluster:  hops || cost || strings.HasPrefix(row.Context, "cluster"),
		Prefixed: strings.Contains(row.Note, "with a length prefix"),
	}
}

func (row vector) name() string {
	name := fmt.Sprintf("%d/%s/%s", row.Version, row.Message, row.Hex)
	return name[:min(len(name), 90)]
}

// fields hands out the fields of a row and notices those nobody asked for.
type fields struct {
	tb   testing.TB
	left map[string]json.RawMessage
}

// take decodes the first of the names that is there and not null into dst and
// reports whether one is.
func (f fields) take(dst any, names ...string) (found bool) {
	f.tb.Helper()
	for _, name := range names {
		raw, ok := f.left[name]
		delete(f.left, name)
		if !ok || string(raw) == "null" || found {
			continue
		}
		if err := json.Unmarshal(raw, dst); err != nil {
			f.tb.Fatalf("field %s: %v", name, err)
		}
		found = true
	}
	return found
}

// number may be a JSON number or a string, decimal or hexadecimal.
type number uint64

func (n *number) UnmarshalJSON(b []byte) error {
	_, err := fmt.Sscan(string(bytes.Trim(b, `"`)), (*uint64)(n))
	return err
}

func (f fields) optional(names ...string) Optional[uint64] {
	f.tb.Helper()
	var n number
	ok := f.take(&n, names...)
	return Optional[uint64]{uint64(n), ok}
}

func (f fields) uint(names ...string) uint64 {
	f.tb.Helper()
	return f.optional(names...).V
}

func (f fields) octet(names ...string) Optional[uint8] {
	f.tb.Helper()
	n := f.optional(names...)
	return Optional[uint8]{uint8(n.V), n.OK}
}

func (f fields) flag(names ...string) Optional[bool] {
	f.tb.Helper()
	n := f.optional(names...)
	return Optional[bool]{n.V == 1, n.OK}
}

func (f fields) string(names ...string) (s string) {
	f.tb.Helper()
	f.take(&s, names...)
	return s
}

// namespace is a path or a list of fields.
func (f fields) namespace(names ...string) (ns TrackNamespace) {
	f.tb.Helper()
	var raw json.RawMessage
	if !f.take(&raw, names...) {
		return nil
	}
	if raw[0] == '[' {
		if err := json.Unmarshal(raw, &ns); err != nil {
			f.tb.Fatal(err)
		}
		if len(ns) == 0 {
			return nil
		}
		return ns
	}
	var path string
	if err := json.Unmarshal(raw, &path); err != nil {
		f.tb.Fatal(err)
	}
	return SplitPath(path)
}

func (f fields) location(names ...string) (l Optional[Location]) {
	f.tb.Helper()
	var pair [2]uint64
	if f.take(&pair, names...) {
		return Some(Location{pair[0], pair[1]})
	}
	return l
}

// inner returns the fields of a field.
func (f fields) inner(names ...string) (fields, bool) {
	f.tb.Helper()
	in := fields{tb: f.tb}
	ok := f.take(&in.left, names...)
	return in, ok
}

func (f fields) done() {
	f.tb.Helper()
	if len(f.left) > 0 {
		f.tb.Fatalf("fields left unchecked: %s", f.left)
	}
}

// TestVectors checks every row of moqt.json.
func TestVectors(t *testing.T) {
	checks := map[string]func(*testing.T, vector){
		"varint":     checkVarint,
		"field":      checkNamespace,
		"setup":      checkMessage,
		"control":    checkMessage,
		"data":       checkStream,
		"datagram":   checkDatagram,
		"transcript": checkTranscript,
	}
	for _, row := range readVectors(t) {
		t.Run(row.name(), func(t *testing.T) {
			check := checks[row.Kind]
			if check == nil {
				t.Fatalf("no check for a row of %q", row.Kind)
			}
			check(t, row)
		})
	}
}

func checkVarint(t *testing.T, row vector) {
	f, whole, enc := fields{t, row.Fields}, row.bytes(t), row.Version.Encoding()
	want, form := f.uint("value"), f.string("form")
	f.done()
	got, n, err := enc.Parse(whole)
	if row.rejected() {
		if err == nil {
			t.Errorf("Parse(%x) = %d, want it refused", whole, got)
		}
		return
	}
	if got != want || n != len(whole) || err != nil {
		t.Errorf("Parse(%x) = %d in %d bytes, %v, want %d", whole, got, n, err, want)
	}
	if b := enc.AppendVarint(nil, want); form == "" && !bytes.Equal(b, whole) {
		t.Errorf("AppendVarint(%d) = %x, want %x", want, b, whole)
	}
}

func checkNamespace(t *testing.T, row vector) {
	f, whole := fields{t, row.Fields}, row.bytes(t)
	want := f.string("path")
	f.done()
	if got := SplitPath(want).append(nil, row.Version.Encoding()); !bytes.Equal(got, whole) {
		t.Errorf("%q is written %x, want %x", want, got, whole)
	}
	r := row.dialect().reader(whole)
	ns, left := r.namespace()
	got, err := ns.Path()
	if got != want || err != nil || r.Close() != nil {
		t.Errorf("%x reads as %q, %v, %v, want %q", whole, got, err, r.Close(), want)
	}
	if size := len(strings.ReplaceAll(want, "/", "")); left != MaxFullName-size {
		t.Errorf("%d bytes left for the name, want %d", left, MaxFullName-size)
	}
}
