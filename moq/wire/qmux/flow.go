package qmux

import "github.com/moqmesh/moqmesh/moq/wire"

// MaxData raises the limit on the stream bytes of a whole connection, counted
// from its start (MAX_DATA, §2.6.3). Not in Legacy.
type MaxData struct{ Max uint64 }

// Append appends the frame.
func (f MaxData) Append(b []byte, _ Version) []byte {
	return wire.AppendVarint(append(b, byte(TypeMaxData)), f.Max)
}

// MaxData reads the frame after TypeMaxData.
func (r *Reader) MaxData() (MaxData, error) {
	f := MaxData{Max: r.r.Varint()}
	return f, r.done("MAX_DATA")
}

// MaxStreamData raises the limit on the bytes of one stream, counted from its
// start (MAX_STREAM_DATA, §2.6.3). Not in Legacy.
type MaxStreamData struct {
	ID  uint64
	Max uint64
}

// Append appends the frame.
func (f MaxStreamData) Append(b []byte, _ Version) []byte {
	b = wire.AppendVarint(append(b, byte(TypeMaxStreamData)), f.ID)
	return wire.AppendVarint(b, f.Max)
}

// MaxStreamData reads the frame after TypeMaxStreamData.
func (r *Reader) MaxStreamData() (MaxStreamData, error) {
	f := MaxStreamData{ID: r.r.Varint(), Max: r.r.Varint()}
	return f, r.done("MAX_STREAM_DATA")
}

// MaxStreams raises the limit on how many streams of one kind the receiver may
// ever open (MAX_STREAMS, §2.6.3). Not in Legacy.
type MaxStreams struct {
	Uni bool
	Max uint64
}

// Append appends the frame.
func (f MaxStreams) Append(b []byte, _ Version) []byte {
	typ := TypeMaxStreamsBidi
	if f.Uni {
		typ = TypeMaxStreamsUni
	}
	return wire.AppendVarint(append(b, byte(typ)), f.Max)
}

// MaxStreams reads the frame after TypeMaxStreamsBidi or TypeMaxStreamsUni.
func (r *Reader) MaxStreams() (MaxStreams, error) {
	f := MaxStreams{Uni: r.typ == TypeMaxStreamsUni, Max: r.r.Varint()}
	return f, r.done("MAX_STREAMS")
}
