package lite

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// maxGroupHeader is the longest body of a GROUP: three varints of 9 bytes.
const maxGroupHeader = 27

// GroupHeader starts a group stream, GROUP (§9.1). Frames follow it until FIN.
type GroupHeader struct {
	Subscribe  uint64 // id of the subscription it belongs to
	Sequence   uint64 // of the group in its track
	FrameStart uint64 // index of the first frame on the stream; 06 and later
}

// Append appends the framed message. [AppendGroupStream] puts the stream type
// in front as well.
func (m GroupHeader) Append(b []byte, v Version) []byte {
	enc := v.Encoding()
	start := len(b)
	b = enc.AppendVarint(b, m.Subscribe)
	b = enc.AppendVarint(b, m.Sequence)
	if v.HasFrameBounds() {
		b = enc.AppendVarint(b, m.FrameStart)
	}
	return enc.PrefixLength(b, start)
}

// AppendGroupStream appends how a group stream starts: its type, then h.
func AppendGroupStream(b []byte, v Version, h GroupHeader) []byte {
	return h.Append(StreamGroup.Append(b, v), v)
}

// DecodeGroupHeader decodes a body.
func DecodeGroupHeader(body []byte, v Version) (m GroupHeader, err error) {
	r := v.reader(body)
	m.Subscribe = r.Varint()
	m.Sequence = r.Varint()
	if v.HasFrameBounds() {
		m.FrameStart = r.Varint()
	}
	return m, finish(&r, "GROUP")
}

// ParseGroupHeader takes a framed GROUP off the front of b, what follows the
// stream type, and returns how many bytes it took: 0 when b ends before it
// does. It never asks for more than 36 bytes and does not allocate.
func ParseGroupHeader(b []byte, v Version) (h GroupHeader, n int, err error) {
	size, n, err := v.Encoding().Parse(b)
	if err != nil {
		return h, 0, fmt.Errorf("decode GROUP: length: %w", err)
	}
	if size > maxGroupHeader {
		return h, 0, fmt.Errorf("decode GROUP: %d bytes: %w", size, wire.ErrTooLarge)
	}
	end := n + int(size)
	if n == 0 || len(b) < end {
		return h, 0, nil
	}
	h, err = DecodeGroupHeader(b[n:end], v)
	if err != nil {
		return GroupHeader{}, 0, err
	}
	return h, end, nil
}
