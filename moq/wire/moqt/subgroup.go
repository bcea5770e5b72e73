package moqt

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// SubgroupHeader starts a stream of objects of one group, SUBGROUP_HEADER
// (§8.1). Objects follow it until FIN; see [Object].
type SubgroupHeader struct {
	Alias      uint64 // of the track
	Group      uint64
	SubgroupID SubgroupID
	Subgroup   uint64          // where SubgroupID is SubgroupExplicit, else 0
	Priority   Optional[uint8] // the publisher's; absent = that of the track, 15 and later
	Properties bool            // every object has a block of properties
	EndOfGroup bool            // the last object before FIN is the last of the group
	// FirstObject says that the stream starts with the first object of the
	// subgroup; 18 and later. Before, nothing says so.
	FirstObject bool
}

// SubgroupID says where a stream's subgroup id is.
type SubgroupID uint8

// Where a subgroup id is.
const (
	SubgroupZero     SubgroupID = iota // it is 0
	SubgroupOfObject                   // it is the id of the first object
	SubgroupExplicit                   // in the header
)

// Bits of a subgroup header's type.
const (
	subgroupProperties  = 0x01
	subgroupIDShift     = 1
	subgroupIDMask      = 0x06
	subgroupEndOfGroup  = 0x08
	subgroupAlways      = 0x10
	subgroupNoPriority  = 0x20
	subgroupFirstObject = 0x40
)

// isSubgroup reports whether a stream type is that of a subgroup.
func isSubgroup(t uint64, v Version) bool {
	known := uint64(subgroupProperties | subgroupIDMask | subgroupEndOfGroup | subgroupAlways)
	if v >= Draft15 {
		known |= subgroupNoPriority
	}
	if v >= Draft18 {
		known |= subgroupFirstObject
	}
	return t&^known == 0 && t&subgroupAlways != 0 && t&subgroupIDMask != subgroupIDMask
}

// Append appends the header, type first.
func (h SubgroupHeader) Append(b []byte, v Version) []byte {
	enc := v.Encoding()
	t := h.flags(v)
	b = enc.AppendVarint(b, t)
	b = enc.AppendVarint(b, h.Alias)
	b = enc.AppendVarint(b, h.Group)
	if h.SubgroupID == SubgroupExplicit {
		b = enc.AppendVarint(b, h.Subgroup)
	}
	if t&subgroupNoPriority == 0 {
		b = append(b, h.Priority.or(DefaultPriority))
	}
	return b
}

func (h SubgroupHeader) flags(v Version) uint64 {
	t := subgroupAlways | uint64(h.SubgroupID)<<subgroupIDShift
	if h.Properties {
		t |= subgroupProperties
	}
	if h.EndOfGroup {
		t |= subgroupEndOfGroup
	}
	if !h.Priority.OK && v >= Draft15 {
		t |= subgroupNoPriority
	}
	if h.FirstObject && v >= Draft18 {
		t |= subgroupFirstObject
	}
	return t
}

// ParseSubgroupHeader takes a header off the front of b and returns how many
// bytes it took: 0 when b ends before it does. It never asks for more than 37
// bytes and does not allocate.
func ParseSubgroupHeader(b []byte, v Version) (h SubgroupHeader, n int, err error) {
	s := scan(b, v)
	t := s.varint()
	if !s.stopped() && !isSubgroup(t, v) {
		s.fail(wire.ErrValue)
	}
	h.SubgroupID = SubgroupID(t & subgroupIDMask >> subgroupIDShift)
	h.Properties = t&subgroupProperties != 0
	h.EndOfGroup = t&subgroupEndOfGroup != 0
	h.FirstObject = t&subgroupFirstObject != 0
	h.Alias = s.varint()
	h.Group = s.id()
	if h.SubgroupID == SubgroupExplicit {
		h.Subgroup = s.id()
	}
	if t&subgroupNoPriority == 0 {
		h.Priority = Some(s.uint8())
	}
	n, err = s.done()
	if err != nil {
		err = fmt.Errorf("decode SUBGROUP_HEADER: %w", err)
	}
	if n == 0 {
		return SubgroupHeader{}, 0, err
	}
	return h, n, nil
}
