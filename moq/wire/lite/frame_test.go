package lite

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/moqmesh/moqmesh/moq/wire"
)

func TestFrameBounds(t *testing.T) {
	if _, size, n, err := ParseFrameHeader(AppendFrameHeader(nil, V06, 0, MaxFrame), V06); size != MaxFrame || n != 5 || err != nil {
		t.Errorf("the largest frame: size %d, %d bytes, %v", size, n, err)
	}
	if _, _, n, err := ParseFrameHeader(AppendFrameHeader(nil, V06, 0, MaxFrame+1), V06); n != 0 || !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("a frame above the bound: %d bytes, %v, want %v", n, err, wire.ErrTooLarge)
	}
	above := []byte{0xff, 0xff, 0, 0, 0, 0, 0, 0, 0}
	if _, _, _, err := ParseFrameHeader(above, V07WIP); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("a delta above 2^62-1: %v, want %v", err, wire.ErrTooLarge)
	}
}

func TestGroupHeaderBounds(t *testing.T) {
	longest := []byte{27}
	for range 3 {
		longest = append(longest, 0xff, 0x3f, 0, 0, 0, 0, 0, 0, 0)
	}
	if h, n, err := ParseGroupHeader(longest, V07WIP); n != len(longest) || h.FrameStart != 0x3f<<56 || err != nil {
		t.Errorf("the longest GROUP: %+v, %d bytes, %v", h, n, err)
	}
	tests := []struct {
		name string
		in   []byte
		v    Version
		want error
	}{
		{"a length no GROUP has", []byte{28}, V07WIP, wire.ErrTooLarge},
		{"a length of 64 MiB", []byte{0x84, 0, 0, 0}, V06, wire.ErrTooLarge},
		{"bytes left over", []byte{4, 1, 7, 0, 9}, V06, wire.ErrTrailing},
		{"a field missing", []byte{2, 1, 7}, V06, wire.ErrShort},
	}
	for _, tt := range tests {
		if _, n, err := ParseGroupHeader(tt.in, tt.v); n != 0 || !errors.Is(err, tt.want) {
			t.Errorf("%s: %d bytes, %v, want %v", tt.name, n, err, tt.want)
		}
	}
}

func TestFrameTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prev := rapid.Uint64Range(0, wire.MaxVarint).Draw(t, "prev")
		next := rapid.Uint64Range(0, wire.MaxVarint).Draw(t, "next")
		delta, ok := FrameDelta(prev, next)
		if !ok {
			if far := max(prev, next) - min(prev, next); far < 1<<61 {
				t.Fatalf("no delta from %d to %d", prev, next)
			}
			return
		}
		if got, ok := FrameTime(prev, delta); got != next || !ok {
			t.Fatalf("FrameTime(%d, %d) = %d, %t, want %d", prev, delta, got, ok, next)
		}
	})
	// "Result must stay in 0 … 2^62−1."
	for _, tt := range []struct {
		prev  uint64
		delta int64
	}{{0, -1}, {5, -6}, {wire.MaxVarint, 1}, {0, wire.MinDelta}, {wire.MaxVarint, wire.MaxDelta}} {
		if got, ok := FrameTime(tt.prev, tt.delta); ok {
			t.Errorf("FrameTime(%d, %d) = %d, want none", tt.prev, tt.delta, got)
		}
	}
}

// The hot path makes no garbage.
func TestHotPathAllocatesNothing(t *testing.T) {
	buf := make([]byte, 0, 64)
	for _, v := range []Version{V04, V06, V07WIP} {
		allocs := testing.AllocsPerRun(100, func() {
			b := AppendGroupStream(buf[:0], v, GroupHeader{Subscribe: 300, Sequence: 70000})
			head := len(b)
			b = AppendFrameHeader(b, v, 3000, 1200)
			if _, n, err := ParseGroupHeader(b[1:head], v); n != head-1 || err != nil {
				t.Fatal(n, err)
			}
			if _, _, n, err := ParseFrameHeader(b[head:], v); n != len(b)-head || err != nil {
				t.Fatal(n, err)
			}
			b = Datagram{Subscribe: 300, Sequence: 7, Timestamp: 3000, Payload: b[:8]}.Append(b[:head], v)
			if _, err := DecodeDatagram(b[head:], v); err != nil {
				t.Fatal(err)
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", v, allocs)
		}
	}
}

func BenchmarkAppendFrameHeader(b *testing.B) {
	buf := make([]byte, 0, 64)
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendFrameHeader(buf[:0], V06, 3000, 1200)
	}
}

func BenchmarkParseFrameHeader(b *testing.B) {
	in := AppendFrameHeader(nil, V06, 3000, 1200)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, n, err := ParseFrameHeader(in, V06); n == 0 || err != nil {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkParseGroupHeader(b *testing.B) {
	in := GroupHeader{Subscribe: 300, Sequence: 70000}.Append(nil, V06)
	b.ReportAllocs()
	for b.Loop() {
		if _, n, err := ParseGroupHeader(in, V06); n == 0 || err != nil {
			b.Fatal(n, err)
		}
	}
}
