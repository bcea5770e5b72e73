package moqt

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// FetchHeader starts the stream that answers a [Fetch] or a [Fill],
// FETCH_HEADER (§8.3). Objects follow it until FIN; see [FetchObjects].
type FetchHeader struct {
	RequestID uint64 // of the fetch, or of the subscription with the fill
}

// Append appends the header, type first.
func (h FetchHeader) Append(b []byte, v Version) []byte {
	enc := v.Encoding()
	return enc.AppendVarint(enc.AppendVarint(b, streamFetch), h.RequestID)
}

// ParseFetchHeader takes a header off the front of b and returns how many bytes
// it took: 0 when b ends before it does. It does not allocate.
func ParseFetchHeader(b []byte, v Version) (h FetchHeader, n int, err error) {
	s := scan(b, v)
	if t := s.varint(); t != streamFetch {
		s.fail(wire.ErrValue)
	}
	h.RequestID = s.varint()
	n, err = s.done()
	if err != nil {
		err = fmt.Errorf("decode FETCH_HEADER: %w", err)
	}
	if n == 0 {
		return FetchHeader{}, 0, err
	}
	return h, n, nil
}

// FetchObject is what precedes the payload of an object on a fetch stream, or
// the end of a range (§8.3).
type FetchObject struct {
	Group      uint64
	Subgroup   uint64
	Object     uint64
	Priority   uint8
	Datagram   bool   // it was sent as a datagram, and Subgroup says nothing; 16 and later
	Properties []byte // for [ReadProperties]
	Size       uint64 // bytes of payload that follow
	Status     Status // of an object without payload; 14 and 15
	// RangeEnd, where it is not 0, says that this is no object but tells what is
	// between the one before and Group and Object; 16 and later. It is read only:
	// the drafts leave open whether such a record has a payload length, and peers
	// do not take one. It is read without (§20).
	RangeEnd RangeEnd
}

// RangeEnd says why a range of a fetch has no objects. Its value is that of the
// flags on the wire.
type RangeEnd uint16

// The ends of a range.
const (
	EndNonExistent RangeEnd = 0x8c  // there are none
	EndUnknown     RangeEnd = 0x10c // it is not known whether there are any
	EndTimedOut    RangeEnd = 0x20c // Fill.Timeout has passed; 20 and later
)

func (e RangeEnd) in(v Version) bool {
	switch e {
	case EndNonExistent, EndUnknown:
		return v >= Draft16
	case EndTimedOut:
		return v >= Draft20
	default:
		return false
	}
}

// Flags of an object on a fetch stream, from 15 on.
const (
	fetchSubgroupMask = 0x03
	fetchObject       = 0x04 // the object id is there; else one more than before
	fetchGroup        = 0x08 // the group is there; else as before
	fetchPriority     = 0x10 // the priority is there; else as before
	fetchProperties   = 0x20
	fetchDatagram     = 0x40
	fetchFlags        = 0x7f
)

// Values of the flags' subgroup bits.
const (
	fetchSubgroupZero  = 0 // it is 0
	fetchSubgroupSame  = 1 // as before
	fetchSubgroupNext  = 2 // one more than before
	fetchSubgroupField = 3 // it is there
)

// FetchObjects writes or reads the objects of one fetch stream, each of which
// may refer to those before. Either end of a stream needs one of its own. Its
// zero value but for Version and Descending is the start of a stream.
type FetchObjects struct {
	Version Version
	// Descending says that groups come newest first, as the fetch asked; it
	// matters from 18 on.
	Descending bool

	last     Optional[Location] // of the record before
	subgroup Optional[uint64]   // of the last object that had one
	priority Optional[uint8]    // of the last object
}

// advance makes o what the next record refers to.
func (f *FetchObjects) advance(o FetchObject) {
	f.last = Some(Location{o.Group, o.Object})
	if o.RangeEnd != 0 {
		return
	}
	f.priority = Some(o.Priority)
	if !o.Datagram {
		f.subgroup = Some(o.Subgroup)
	}
}
