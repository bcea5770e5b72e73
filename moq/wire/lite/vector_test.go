package lite

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// vector is one row of a golden file: bytes that another implementation wrote
// for the fields, or the verdict of its decoder.
type vector struct {
	Version string
	Message string
	Fields  map[string]json.RawMessage
	Hex     string
	Case    string // of lite-invalid.json
	Result  string
	Error   string
}

func readVectors(tb testing.TB, file string) []vector {
	tb.Helper()
	raw, err := os.ReadFile("testdata/" + file)
	if err != nil {
		tb.Fatal(err)
	}
	var rows []vector
	if err := json.Unmarshal(raw, &rows); err != nil {
		tb.Fatal(err)
	}
	return rows
}

func (row vector) bytes(tb testing.TB) []byte {
	tb.Helper()
	b, err := hex.DecodeString(row.Hex)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func (row vector) version(tb testing.TB) Version {
	tb.Helper()
	v, err := ParseVersion(row.Version)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// fields hands out the fields of a row and notices those nobody asked for.
type fields struct {
	tb   testing.TB
	left map[string]json.RawMessage
}

// take decodes a field into dst and reports whether it is there and not null.
func (f fields) take(name string, dst any) bool {
	f.tb.Helper()
	raw, ok := f.left[name]
	delete(f.left, name)
	if !ok || string(raw) == "null" {
		return false
	}
	if err := json.Unmarshal(raw, dst); err != nil {
		f.tb.Fatalf("field %s: %v", name, err)
	}
	return true
}

// number is written as a string above 2^53-1.
type number uint64

func (n *number) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(bytes.Trim(b, `"`), (*uint64)(n))
}

func (f fields) uint(name string) uint64 {
	f.tb.Helper()
	return f.optional(name).V
}

func (f fields) optional(name string) Optional {
	f.tb.Helper()
	var n number
	ok := f.take(name, &n)
	return Optional{V: uint64(n), OK: ok}
}

func (f fields) string(name string) (s string) {
	f.tb.Helper()
	f.take(name, &s)
	return s
}

func (f fields) bool(name string) (b bool) {
	f.tb.Helper()
	f.take(name, &b)
	return b
}

func (f fields) millis(name string) time.Duration {
	f.tb.Helper()
	return time.Duration(f.uint(name)) * time.Millisecond
}

func (f fields) hops(name string) (hops []uint64) {
	f.tb.Helper()
	var ns []number
	f.take(name, &ns)
	for _, n := range ns {
		hops = append(hops, uint64(n))
	}
	return hops
}

// TestVectors checks every row of lite.json in both directions.
func TestVectors(t *testing.T) {
	whole := map[string]func(*testing.T, vector){
		"bidi-stream-type":            checkBidiStream,
		"uni-stream-type":             checkUniStream,
		"uni-stream GROUP+FRAMEs+FIN": checkGroupStream,
		"announce-stream-compressed":  checkCompressedStream,
		"CLIENT_SETUP":                checkClientSetup,
		"SERVER_SETUP":                checkServerSetup,
		"DATAGRAM":                    checkDatagram,
	}
	for _, row := range readVectors(t, "lite.json") {
		name := strings.Join([]string{row.Version, row.Message, row.Hex}, "/")
		if len(name) > 80 {
			name = name[:80]
		}
		t.Run(name, func(t *testing.T) {
			if check := whole[row.Message]; check != nil {
				check(t, row)
				return
			}
			m, ok := messages[row.Message]
			if !ok {
				t.Fatalf("no check for a row of %q", row.Message)
			}
			checkMessage(t, row, m)
		})
	}
}
