package lite

import "github.com/moqmesh/moqmesh/moq/wire"

// AnnounceRequest opens an announce stream: it asks for every broadcast below a
// prefix, now and from now on. ANNOUNCE_REQUEST (§6.1).
type AnnounceRequest struct {
	Prefix     string // clean; at most MaxPath bytes; empty = everything
	ExcludeHop uint64 // leave out routes through this hop; 0 = none; 04 and 05
	Hidden     bool   // also names with a segment that starts with "." below Prefix; 07
}

// Append appends the framed message.
func (m AnnounceRequest) Append(b []byte, v Version) []byte {
	enc := v.Encoding()
	start := len(b)
	b = enc.AppendString(b, m.Prefix)
	if v.HasExcludeHop() {
		b = enc.AppendVarint(b, m.ExcludeHop)
	}
	if v.HasHidden() {
		b = wire.AppendBool(b, m.Hidden)
	}
	return enc.PrefixLength(b, start)
}

// DecodeAnnounceRequest decodes a body.
func DecodeAnnounceRequest(body []byte, v Version) (m AnnounceRequest, err error) {
	r := v.reader(body)
	m.Prefix = r.Path(MaxPath)
	if v.HasExcludeHop() {
		m.ExcludeHop = r.Varint()
	}
	if v.HasHidden() {
		m.Hidden = r.Bool()
	}
	return m, finish(&r, "ANNOUNCE_REQUEST")
}
