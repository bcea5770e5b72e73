package lite

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Optional is a number that may be absent. The zero value is absent.
type Optional struct {
	V  uint64 // 0 when absent
	OK bool   // present
}

// Some returns v as a present Optional.
func Some(v uint64) Optional { return Optional{V: v, OK: true} }

func (o Optional) append(b []byte, v Version) []byte {
	return v.Encoding().AppendOptional(b, o.V, o.OK)
}

func readOptional(r *wire.Reader) (o Optional) {
	o.V, o.OK = r.Optional()
	return o
}

// maxMillis is the longest time.Duration in whole milliseconds.
const maxMillis = math.MaxInt64 / int64(time.Millisecond)

// appendMillis appends d in milliseconds, rounded down; a negative d is 0.
func appendMillis(b []byte, v Version, d time.Duration) []byte {
	return v.Encoding().AppendVarint(b, uint64(max(d.Milliseconds(), 0)))
}

// readMillis reads milliseconds. More than a time.Duration holds, 292 years,
// is read as that.
func readMillis(r *wire.Reader) time.Duration {
	return time.Duration(min(r.Varint(), uint64(maxMillis))) * time.Millisecond
}

// appendOrdered appends the byte that once asked for ordered delivery, always 0
// since some peers read it strictly as a bool.
func appendOrdered(b []byte, v Version) []byte {
	if v.hasOrdered() {
		return append(b, 0)
	}
	return b
}

// skipOrdered reads that byte and ignores it, whatever its value.
func skipOrdered(r *wire.Reader, v Version) {
	if v.hasOrdered() {
		r.Uint8()
	}
}

// appendHops appends a hop list: a count, then the ids, origin first.
func appendHops(b []byte, v Version, hops []uint64) []byte {
	enc := v.Encoding()
	b = enc.AppendVarint(b, uint64(len(hops)))
	for _, hop := range hops {
		b = enc.AppendVarint(b, hop)
	}
	return b
}

// readHops reads a hop list. An empty one is nil.
func readHops(r *wire.Reader) []uint64 {
	n := r.Count(MaxHops)
	if n == 0 {
		return nil
	}
	hops := make([]uint64, n)
	for i := range hops {
		hops[i] = r.Varint()
	}
	if err := checkHops(hops); err != nil {
		r.Fail(err)
	}
	return hops
}

// checkHops refuses a repeated hop. Zero stands for an unknown hop and may repeat.
func checkHops(hops []uint64) error {
	for i, hop := range hops {
		if hop != 0 && slices.Contains(hops[:i], hop) {
			return fmt.Errorf("hop %d: %w", hop, wire.ErrDuplicate)
		}
	}
	return nil
}

// finish closes r and says which message was being decoded.
func finish(r *wire.Reader, message string) error {
	if err := r.Close(); err != nil {
		return fmt.Errorf("decode %s: %w", message, err)
	}
	return nil
}
