package moqt

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Datagram is an object in a QUIC datagram, OBJECT_DATAGRAM (§8.4).
type Datagram struct {
	Alias      uint64 // of the track
	Group      uint64
	Object     uint64
	Priority   Optional[uint8] // the publisher's; absent = that of the track, 15 and later
	EndOfGroup bool            // the object is the last of its group
	Properties []byte          // for [ReadProperties]; nil when there are none
	Status     Status          // of an object without payload; then EndOfGroup is not written
	Payload    []byte          // nil when empty
}

// Bits of a datagram's type.
const (
	datagramProperties = 0x01
	datagramEndOfGroup = 0x02
	datagramNoObject   = 0x04
	datagramNoPriority = 0x08
	datagramStatus     = 0x20
)

// isDatagram reports whether a datagram type is that of an object.
func isDatagram(t uint64, v Version) bool {
	known := uint64(datagramProperties | datagramEndOfGroup | datagramNoObject)
	if v >= Draft15 {
		known |= datagramNoPriority
	}
	if t&datagramStatus == 0 {
		return t&^known == 0
	}
	switch v {
	case Draft14:
		known = datagramProperties
	case Draft15:
		known = datagramProperties | datagramNoObject
	default:
		known &^= datagramEndOfGroup
	}
	return t&^(known|datagramStatus) == 0
}

// Append appends the datagram.
func (m Datagram) Append(b []byte, v Version) []byte {
	enc := v.Encoding()
	t := m.flags(v)
	b = enc.AppendVarint(b, t)
	b = enc.AppendVarint(b, m.Alias)
	b = enc.AppendVarint(b, m.Group)
	if t&datagramNoObject == 0 {
		b = enc.AppendVarint(b, m.Object)
	}
	if t&datagramNoPriority == 0 {
		b = append(b, m.Priority.or(DefaultPriority))
	}
	if t&datagramProperties != 0 {
		b = enc.AppendBytes(b, m.Properties)
	}
	if t&datagramStatus != 0 {
		return enc.AppendVarint(b, uint64(m.Status))
	}
	return append(b, m.Payload...)
}

func (m Datagram) flags(v Version) (t uint64) {
	switch {
	case m.Status != StatusNormal:
		t |= datagramStatus
	case m.EndOfGroup:
		t |= datagramEndOfGroup
	}
	if len(m.Properties) > 0 {
		t |= datagramProperties
	}
	if m.Object == 0 && isDatagram(t|datagramNoObject, v) {
		t |= datagramNoObject
	}
	if !m.Priority.OK && isDatagram(t|datagramNoPriority, v) {
		t |= datagramNoPriority
	}
	return t
}

// IsPadding reports whether a datagram is padding, to be dropped; 18 and later.
func IsPadding(b []byte, v Version) bool {
	t, n, _ := v.Encoding().Parse(b)
	return n > 0 && t == datagramPadding && v >= Draft18
}

// DecodeDatagram decodes a datagram. Properties and payload alias b. It does
// not allocate.
func DecodeDatagram(b []byte, v Version) (m Datagram, err error) {
	s := scan(b, v)
	t := s.varint()
	if !s.stopped() && !isDatagram(t, v) {
		s.fail(fmt.Errorf("type %#x: %w", t, wire.ErrValue))
	}
	m.EndOfGroup = t&datagramEndOfGroup != 0
	m.Alias = s.varint()
	m.Group = s.id()
	if t&datagramNoObject == 0 {
		m.Object = s.id()
	}
	if t&datagramNoPriority == 0 {
		m.Priority = Some(s.uint8())
	}
	if t&datagramProperties != 0 {
		m.Properties = s.datagramProperties()
	}
	if t&datagramStatus != 0 {
		m.Status = s.status(v)
	}
	n, err := s.done()
	switch rest := b[n:]; {
	case err != nil:
	case n == 0:
		err = wire.ErrShort
	case t&datagramStatus != 0 && len(rest) > 0:
		err = wire.ErrTrailing
	case len(rest) > 0:
		m.Payload = rest
	}
	if err != nil {
		return Datagram{}, fmt.Errorf("decode OBJECT_DATAGRAM: %w", err)
	}
	return m, nil
}

// datagramProperties takes a block of properties, which a datagram that has
// none leaves out.
func (s *scanner) datagramProperties() []byte {
	p := s.properties()
	if p == nil && !s.stopped() {
		s.fail(fmt.Errorf("no properties: %w", wire.ErrValue))
	}
	return p
}
