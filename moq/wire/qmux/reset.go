package qmux

import "github.com/moqmesh/moqmesh/moq/wire"

// ResetStream abandons the sending half of a stream (RESET_STREAM, §2.6.3).
type ResetStream struct {
	ID   uint64
	Code uint64
	// FinalSize is how many bytes of the stream were sent. Legacy does not carry
	// it, and older senders always say 0.
	FinalSize uint64
}

// Append appends the frame.
func (f ResetStream) Append(b []byte, v Version) []byte {
	b = wire.AppendVarint(append(b, byte(TypeResetStream)), f.ID)
	b = wire.AppendVarint(b, f.Code)
	if v == Legacy {
		return b
	}
	return wire.AppendVarint(b, f.FinalSize)
}

// ResetStream reads the frame after TypeResetStream, or after TypeResetStreamAt,
// whose reliable size is dropped.
func (r *Reader) ResetStream() (ResetStream, error) {
	f := ResetStream{ID: r.r.Varint(), Code: r.r.Varint()}
	if r.version != Legacy {
		f.FinalSize = r.r.Varint()
	}
	if r.typ == TypeResetStreamAt {
		r.r.Varint()
	}
	return f, r.done("RESET_STREAM")
}

// StopSending asks the peer to abandon the sending half of a stream
// (STOP_SENDING, §2.6.3).
type StopSending struct {
	ID   uint64
	Code uint64
}

// Append appends the frame, which is the same in every version.
func (f StopSending) Append(b []byte, _ Version) []byte {
	b = wire.AppendVarint(append(b, byte(TypeStopSending)), f.ID)
	return wire.AppendVarint(b, f.Code)
}

// StopSending reads the frame after TypeStopSending.
func (r *Reader) StopSending() (StopSending, error) {
	f := StopSending{ID: r.r.Varint(), Code: r.r.Varint()}
	return f, r.done("STOP_SENDING")
}
