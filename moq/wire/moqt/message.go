package moqt

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Message is a control message: one of the structs of this package.
type Message interface {
	// Append appends the framed message: type, length, body. Callers keep the
	// body within MaxBody.
	Append(b []byte, d Dialect) []byte
}

// Type is the number of a control message on the wire (§6.1). Drafts give some
// numbers to different messages.
type Type uint64

// ReadMessage reads the next control message, a type, a length of two bytes and
// a body, for [Decode]. The body is in buf's memory where that is large enough.
// io.EOF is the end of r before the first byte.
func ReadMessage(r wire.ByteReader, v Version, buf []byte) (t Type, body []byte, err error) {
	n, err := v.Encoding().ReadVarint(r)
	if err != nil {
		return 0, nil, err
	}
	size, err := readLength(r)
	if err != nil {
		return 0, nil, err
	}
	body, err = wire.ReadBody(r, size, buf)
	return Type(n), body, err
}

// readLength reads the two bytes of a length.
func readLength(r io.ByteReader) (n uint64, err error) {
	for range 2 {
		c, err := r.ReadByte()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return 0, err
		}
		n = n<<8 | uint64(c)
	}
	return n, nil
}

// Decode decodes the body of a message of type t. Strings in it own their
// memory; byte slices alias body. A type the draft does not have is
// wire.ErrValue. [CloseCodeFor] says how a session ends for an error.
func Decode(t Type, body []byte, d Dialect) (Message, error) {
	k := t.kind(d.Version)
	if k == nil {
		return nil, fmt.Errorf("message type %#x on %s: %w", uint64(t), d.Version, wire.ErrValue)
	}
	r := d.reader(body)
	m := k.decode(r)
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("decode %s: %w", k.name, err)
	}
	return m, nil
}

// openMessage appends a type and room for the length, and returns where the
// body starts.
func openMessage(b []byte, d Dialect, t Type) ([]byte, int) {
	b = append(d.Version.Encoding().AppendVarint(b, uint64(t)), 0, 0)
	return b, len(b)
}

// closeMessage fills in the length of the body that starts there.
func closeMessage(b []byte, start int) []byte {
	binary.BigEndian.PutUint16(b[start-2:start], uint16(len(b)-start))
	return b
}

// appendRequestID appends the id of a new request. On 17 the distance to a
// request it requires follows, always 0.
func (d Dialect) appendRequestID(b []byte, id uint64) []byte {
	b = d.Version.Encoding().AppendVarint(b, id)
	if d.Version == Draft17 {
		return append(b, 0)
	}
	return b
}

// requestID reads the id of a new request, and ignores what it requires: peers
// send 0.
func (r *reader) requestID() uint64 {
	id := r.Varint()
	if r.d.Version == Draft17 {
		r.Varint()
	}
	return id
}

// appendAnswerID appends the id of the request that a message is about, which
// from 17 on its stream tells.
func (d Dialect) appendAnswerID(b []byte, id uint64) []byte {
	if !d.Version.hasAnswerIDs() {
		return b
	}
	return d.Version.Encoding().AppendVarint(b, id)
}

func (r *reader) answerID() uint64 {
	if !r.d.Version.hasAnswerIDs() {
		return 0
	}
	return r.Varint()
}
