package moqt

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Parse takes an object up to its payload, or the end of a range, off the front
// of b and returns how many bytes it took: 0 when b ends before it does. Then,
// or after an error, f is as it was. The properties alias b and are nil when
// there are none. A payload above MaxObject, properties above
// MaxObjectProperties and ids above wire.MaxVarint are wire.ErrTooLarge. It does
// not allocate.
func (f *FetchObjects) Parse(b []byte) (o FetchObject, n int, err error) {
	s := scan(b, f.Version)
	if f.Version == Draft14 {
		o = s.fixedFetchObject()
	} else {
		o = f.parse(&s)
	}
	n, err = s.done()
	if err != nil {
		err = fmt.Errorf("decode fetched object: %w", err)
	}
	if n == 0 {
		return FetchObject{}, 0, err
	}
	f.advance(o)
	return o, n, nil
}

func (s *scanner) fixedFetchObject() (o FetchObject) {
	o.Group = s.id()
	o.Subgroup = s.id()
	o.Object = s.id()
	o.Priority = s.uint8()
	o.Properties = s.properties()
	o.takeSize(s, Draft14)
	return o
}

func (f *FetchObjects) parse(s *scanner) (o FetchObject) {
	flags := s.fetchFlags(f.Version)
	if flags > fetchFlags {
		o.RangeEnd = RangeEnd(flags)
	}
	if err := f.check(flags); err != nil {
		s.fail(err)
	}
	if f.takeLocation(s, &o, flags); o.RangeEnd != 0 {
		return o
	}
	o.Datagram = flags&fetchDatagram != 0
	o.Priority = f.priority.V
	if flags&fetchPriority != 0 {
		o.Priority = s.uint8()
	}
	if flags&fetchProperties != 0 {
		o.Properties = s.properties()
	}
	o.takeSize(s, f.Version)
	return o
}

// takeSize takes the length of the payload, and up to 15 the status.
func (o *FetchObject) takeSize(s *scanner, v Version) {
	o.Size = s.payloadSize()
	if o.Size == 0 && v <= Draft15 {
		o.Status = s.status(v)
	}
}

// fetchFlags takes the flags of an object, a byte on 15, and refuses those the
// draft does not have.
func (s *scanner) fetchFlags(v Version) (flags uint64) {
	known := uint64(fetchFlags)
	if v == Draft15 {
		flags, known = uint64(s.uint8()), fetchFlags&^fetchDatagram
	} else {
		flags = s.varint()
	}
	if flags&^known != 0 && (flags > uint64(EndTimedOut) || !RangeEnd(flags).in(v)) {
		s.fail(fmt.Errorf("flags %#x: %w", flags, wire.ErrValue))
	}
	return flags
}

// check refuses references to an object that was not there.
func (f *FetchObjects) check(flags uint64) error {
	subgroup := flags & (fetchDatagram | fetchSubgroupMask)
	switch {
	case !f.last.OK && flags&(fetchGroup|fetchObject) != fetchGroup|fetchObject:
		return fmt.Errorf("no location at the start: %w", wire.ErrValue)
	case flags > fetchFlags:
		return nil
	case !f.priority.OK && flags&fetchPriority == 0:
		return fmt.Errorf("no priority at the start: %w", wire.ErrValue)
	case !f.subgroup.OK && (subgroup == fetchSubgroupSame || subgroup == fetchSubgroupNext):
		return fmt.Errorf("no subgroup at the start: %w", wire.ErrValue)
	default:
		return nil
	}
}

// takeLocation takes or infers group, subgroup and object.
func (f *FetchObjects) takeLocation(s *scanner, o *FetchObject, flags uint64) {
	o.Group = f.last.V.Group
	if flags&fetchGroup != 0 {
		o.Group = f.takeGroup(s)
	}
	if flags <= fetchFlags {
		o.Subgroup = f.takeSubgroup(s, flags)
	}
	switch {
	case flags&fetchObject == 0:
		o.Object = s.bounded(f.last.V.Object + 1)
	case f.Version.hasFetchDeltas() && flags&fetchGroup == 0:
		o.Object = s.bounded(f.last.V.Object + s.id())
	default:
		o.Object = s.id()
	}
}

func (f *FetchObjects) takeGroup(s *scanner) uint64 {
	n := s.id()
	switch {
	case !f.Version.hasFetchDeltas() || !f.last.OK:
		return n
	case !f.Descending:
		return s.bounded(f.last.V.Group + n + 1)
	case n >= f.last.V.Group:
		s.fail(fmt.Errorf("%d groups below %d: %w", n, f.last.V.Group, wire.ErrValue))
		return 0
	default:
		return f.last.V.Group - n - 1
	}
}

func (f *FetchObjects) takeSubgroup(s *scanner, flags uint64) uint64 {
	switch flags & (fetchDatagram | fetchSubgroupMask) {
	case fetchSubgroupSame:
		return f.subgroup.V
	case fetchSubgroupNext:
		return s.bounded(f.subgroup.V + 1)
	case fetchSubgroupField:
		return s.id()
	default:
		return 0
	}
}
