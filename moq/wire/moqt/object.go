package moqt

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Object is what precedes the payload of an object on a subgroup stream (§8.2).
type Object struct {
	// Delta is how many ids were passed over since the object before on the
	// stream; of the first object it is the id. See [ObjectID].
	Delta      uint64
	Properties []byte // for [ReadProperties]; on a stream whose header has Properties
	Size       uint64 // bytes of payload that follow
	Status     Status // of an object without payload
}

// Status is what an object without payload stands for.
type Status uint8

// The statuses.
const (
	StatusNormal       Status = 0 // an object that is empty
	StatusDoesNotExist Status = 1 // 14 and 15
	StatusEndOfGroup   Status = 3 // there is no such object, nor a later one in the group
	StatusEndOfTrack   Status = 4 // nor in a later group
)

// in reports whether the draft has the status.
func (s Status) in(v Version) bool {
	switch s {
	case StatusNormal, StatusEndOfGroup, StatusEndOfTrack:
		return true
	case StatusDoesNotExist:
		return v <= Draft15
	default:
		return false
	}
}

// status takes a status.
func (s *scanner) status(v Version) Status {
	n := s.varint()
	if n > 0xff || !Status(n).in(v) {
		s.fail(fmt.Errorf("status %d: %w", n, wire.ErrValue))
		return 0
	}
	return Status(n)
}

// ObjectID returns the id of the next object on a subgroup stream. next is one
// more than the id before, 0 at the start. ok is false for an id above
// wire.MaxVarint, which fails the stream.
func ObjectID(next, delta uint64) (id uint64, ok bool) {
	id = next + delta
	return id, id >= next && id <= wire.MaxVarint
}

// Append appends the object up to its payload, as on a stream whose header's
// Properties is that.
func (o Object) Append(b []byte, v Version, properties bool) []byte {
	enc := v.Encoding()
	b = enc.AppendVarint(b, o.Delta)
	if properties {
		b = enc.AppendBytes(b, o.Properties)
	}
	b = enc.AppendVarint(b, o.Size)
	if o.Size == 0 {
		b = enc.AppendVarint(b, uint64(o.Status))
	}
	return b
}

// ParseObject takes an object up to its payload off the front of b and returns
// how many bytes it took: 0 when b ends before it does. properties is that of
// the stream's header. The properties alias b and are nil when there are none.
// A payload above MaxObject or properties above MaxObjectProperties are
// wire.ErrTooLarge, before they have arrived. It does not allocate.
func ParseObject(b []byte, v Version, properties bool) (o Object, n int, err error) {
	s := scan(b, v)
	o.Delta = s.id()
	if properties {
		o.Properties = s.properties()
	}
	o.Size = s.payloadSize()
	if o.Size == 0 {
		o.Status = s.status(v)
	}
	n, err = s.done()
	if err != nil {
		err = fmt.Errorf("decode object: %w", err)
	}
	if n == 0 {
		return Object{}, 0, err
	}
	return o, n, nil
}

// properties takes a block of properties; nil when it is empty.
func (s *scanner) properties() []byte {
	if p := s.bytes(MaxObjectProperties); len(p) > 0 {
		return p
	}
	return nil
}
