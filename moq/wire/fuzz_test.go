package wire_test

import (
	"bytes"
	"testing"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Whatever a varint, string or path is parsed from, writing it again parses to
// the same.
func FuzzPrimitives(f *testing.F) {
	f.Add(uint8(0), []byte{0x7b, 0xbd})
	f.Add(uint8(1), []byte{0xfc, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc})
	f.Add(uint8(2), bytes.Repeat([]byte{0xff}, 9))
	f.Add(uint8(0), wire.QUIC.AppendString(nil, "/room//alice/"))
	f.Fuzz(func(t *testing.T, e uint8, b []byte) {
		enc := wire.Encoding(e % 4)
		if v, n, err := enc.Parse(b); n > 0 && err == nil {
			if again, m, err := enc.Parse(enc.AppendVarint(nil, v)); again != v || m != enc.VarintLen(v) || m > n && m != 8 || err != nil {
				t.Errorf("Parse(%x) = %d, and again %d in %d bytes, %v", b[:n], v, again, m, err)
			}
		}
		r := wire.NewReader(enc, b)
		path := r.Path(1 << 10)
		if r.Err() != nil {
			return
		}
		again := wire.NewReader(enc, enc.AppendString(nil, path))
		if got := again.Path(1 << 10); got != path || again.Close() != nil {
			t.Errorf("path %q reads again as %q, %v", path, got, again.Close())
		}
	})
}
