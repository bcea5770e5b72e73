package wire_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/moqmesh/moqmesh/moq/wire"
)

func TestUnmapStreamCodeOutOfRange(t *testing.T) {
	for _, quic := range []uint64{0, 1, 0x52e4a40fa8da, 0x52e5ac983163, wire.MaxVarint} {
		if code, ok := wire.UnmapStreamCode(quic); ok {
			t.Errorf("UnmapStreamCode(%#x) = %#x, want none", quic, code)
		}
	}
}

func TestStreamCodeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.Uint32().Draw(t, "code")
		if got, ok := wire.UnmapStreamCode(wire.MapStreamCode(code)); got != code || !ok {
			t.Fatalf("UnmapStreamCode(MapStreamCode(%#x)) = %#x, %t", code, got, ok)
		}
	})
}
