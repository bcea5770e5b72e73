package wire_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// vector is one row of testdata/primitives.json: bytes that another
// implementation wrote for the fields.
type vector struct {
	Version string
	Message string
	Fields  struct {
		Value      json.Number
		Signed     json.Number
		Unsigned   json.Number
		Path       string
		Wire       string
		Decoded    string
		Code       uint32
		QUICCode   uint64 `json:"quic_code"`
		Prefix     string
		Hops       []json.Number
		Hash       json.Number `json:"hash_u64_dec"`
		Candidates [][]json.Number
		Winner     []json.Number
	}
	Hex string
}

func TestVectors(t *testing.T) {
	raw, err := os.ReadFile("testdata/primitives.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []vector
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	checks := map[string]func(*testing.T, vector, []byte){
		"varint":                 checkVarint,
		"zigzag":                 checkZigzag,
		"path":                   checkPath,
		"path-decode-normalises": checkNormalises,
		"stream-error-code":      checkStreamCode,
		"route-hash":             checkRouteHash,
		"route-winner":           checkRouteWinner,
	}
	for _, row := range rows {
		check := checks[row.Message]
		if check == nil {
			t.Errorf("no check for a row of %q", row.Message)
			continue
		}
		b, err := hex.DecodeString(row.Hex)
		if err != nil {
			t.Fatal(err)
		}
		check(t, row, b)
	}
}

func encodingOf(version string) wire.Encoding {
	if strings.Contains(version, "07") {
		return wire.Leading
	}
	return wire.QUIC
}

func uints(t *testing.T, ns ...json.Number) []uint64 {
	t.Helper()
	var vs []uint64
	for _, n := range ns {
		var v uint64
		if err := json.Unmarshal([]byte(n), &v); err != nil {
			t.Fatal(err)
		}
		vs = append(vs, v)
	}
	return vs
}

func checkVarint(t *testing.T, row vector, b []byte) {
	v := uints(t, row.Fields.Value)[0]
	checkForm(t, encodingOf(row.Version), v, b)
	if encodingOf(row.Version) == wire.Leading {
		checkForm(t, wire.Leading64, v, b)
	}
}

func checkForm(t *testing.T, enc wire.Encoding, v uint64, b []byte) {
	if got := enc.AppendVarint(nil, v); !bytes.Equal(got, b) {
		t.Errorf("%d.AppendVarint(%d) = %x, want %x", enc, v, got, b)
	}
	if got := enc.VarintLen(v); got != len(b) {
		t.Errorf("%d.VarintLen(%d) = %d, want %d", enc, v, got, len(b))
	}
	if got, n, err := enc.Parse(b); got != v || n != len(b) || err != nil {
		t.Errorf("%d.Parse(%x) = %d, %d, %v, want %d", enc, b, got, n, err, v)
	}
	if got, err := enc.ReadVarint(bytes.NewReader(b)); got != v || err != nil {
		t.Errorf("%d.ReadVarint(%x) = %d, %v, want %d", enc, b, got, err, v)
	}
	for i := range b {
		if _, n, err := enc.Parse(b[:i]); n != 0 || err != nil {
			t.Errorf("%d.Parse(%x) = %d bytes, %v, want to need more", enc, b[:i], n, err)
		}
	}
}

func checkZigzag(t *testing.T, row vector, b []byte) {
	var n int64
	if err := json.Unmarshal([]byte(row.Fields.Signed), &n); err != nil {
		t.Fatal(err)
	}
	enc, u := encodingOf(row.Version), uints(t, row.Fields.Unsigned)[0]
	if got := wire.Zigzag(n); got != u {
		t.Errorf("Zigzag(%d) = %d, want %d", n, got, u)
	}
	if got := enc.AppendZigzag(nil, n); !bytes.Equal(got, b) {
		t.Errorf("AppendZigzag(%d) = %x, want %x", n, got, b)
	}
	r := wire.NewReader(enc, b)
	if got := r.Zigzag(); got != n || r.Close() != nil {
		t.Errorf("Zigzag of %x = %d, %v, want %d", b, got, r.Close(), n)
	}
}

func checkPath(t *testing.T, row vector, b []byte) {
	enc := encodingOf(row.Version)
	if got := enc.AppendString(nil, row.Fields.Path); !bytes.Equal(got, b) {
		t.Errorf("AppendString(%q) = %x, want %x", row.Fields.Path, got, b)
	}
	r := wire.NewReader(enc, b)
	if got := r.Path(100); got != row.Fields.Path || r.Close() != nil {
		t.Errorf("Path of %x = %q, %v, want %q", b, got, r.Close(), row.Fields.Path)
	}
}

func checkNormalises(t *testing.T, row vector, b []byte) {
	if got := wire.QUIC.AppendString(nil, row.Fields.Wire); !bytes.Equal(got, b) {
		t.Errorf("AppendString(%q) = %x, want %x", row.Fields.Wire, got, b)
	}
	r := wire.NewReader(wire.QUIC, b)
	if got := r.Path(100); got != row.Fields.Decoded || r.Close() != nil {
		t.Errorf("Path of %x = %q, %v, want %q", b, got, r.Close(), row.Fields.Decoded)
	}
}

func checkStreamCode(t *testing.T, row vector, b []byte) {
	code, quic := row.Fields.Code, row.Fields.QUICCode
	if got := wire.MapStreamCode(code); got != quic {
		t.Errorf("MapStreamCode(%#x) = %#x, want %#x", code, got, quic)
	}
	if got, ok := wire.UnmapStreamCode(quic); got != code || !ok {
		t.Errorf("UnmapStreamCode(%#x) = %#x, %t, want %#x", quic, got, ok, code)
	}
	if got := wire.AppendVarint(nil, quic); !bytes.Equal(got, b) {
		t.Errorf("AppendVarint(%#x) = %x, want %x", quic, got, b)
	}
}

func checkRouteHash(t *testing.T, row vector, _ []byte) {
	hops, want := uints(t, row.Fields.Hops...), uints(t, row.Fields.Hash)[0]
	if got := wire.RouteHash(row.Fields.Prefix, hops); got != want {
		t.Errorf("RouteHash(%q, %d) = %016x, want %016x", row.Fields.Prefix, hops, got, want)
	}
}

func checkRouteWinner(t *testing.T, row vector, _ []byte) {
	want := uints(t, row.Fields.Winner...)
	var best []uint64
	for _, c := range row.Fields.Candidates {
		hops := uints(t, c...)
		if best == nil || wire.RouteHash(row.Fields.Prefix, hops) < wire.RouteHash(row.Fields.Prefix, best) {
			best = hops
		}
	}
	if !slices.Equal(best, want) {
		t.Errorf("lowest hash for %q is %d, want %d", row.Fields.Prefix, best, want)
	}
}
