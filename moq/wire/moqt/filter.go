package moqt

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Filter says which part of a track is wanted (§7). Its range is inclusive at
// both ends on every draft. The zero value is all of the track.
type Filter struct {
	Kind FilterKind
	// Back is where a FilterRelative starts: 0 is the group after the largest
	// one, 1 the largest, 2 the one before. Up to 19 only 0 exists; any other
	// is written as FilterNextObject.
	Back      uint64
	Start     Location         // of a FilterAbsolute
	EndGroup  Optional[uint64] // last group of a FilterAbsolute, not below Start's; absent = open
	EndObject Optional[uint64] // last object in EndGroup, absent = all; not written in subscriptions up to 19
}

// FilterKind is how a [Filter] says where it starts.
type FilterKind uint8

// The kinds of filter.
const (
	FilterNone       FilterKind = iota // no filter: everything
	FilterNextObject                   // after the largest object; "Largest Object" up to 19
	FilterRelative                     // a number of groups back
	FilterAbsolute                     // at a location
)

// Tags of a filter up to 19 (§7.1).
const (
	tagNextGroup     = 1
	tagLargestObject = 2
	tagAbsoluteStart = 3
	tagAbsoluteRange = 4
)

// Types of a filter on 22 (§7.3). Those of an absolute one are, from
// filterStart on, the number of its fields.
const (
	filterNone       = 0
	filterRelative   = 1
	filterStart      = 2
	filterEndObject  = 4
	filterNextObject = 5
)

// appendTagged appends the filter as up to 19, without a length.
func (f Filter) appendTagged(b []byte, v Version) []byte {
	enc := v.Encoding()
	switch {
	case f.Kind == FilterRelative && f.Back == 0:
		return enc.AppendVarint(b, tagNextGroup)
	case f.Kind == FilterRelative || f.Kind == FilterNextObject:
		return enc.AppendVarint(b, tagLargestObject)
	case !f.EndGroup.OK:
		return f.Start.append(enc.AppendVarint(b, tagAbsoluteStart), enc)
	}
	b = f.Start.append(enc.AppendVarint(b, tagAbsoluteRange), enc)
	if v <= Draft16 {
		return enc.AppendVarint(b, f.EndGroup.V)
	}
	return enc.AppendVarint(b, f.groups())
}

// groups is how many groups the end is after the start.
func (f Filter) groups() uint64 { return max(f.EndGroup.V, f.Start.Group) - f.Start.Group }

func (r *reader) taggedFilter() (f Filter) {
	tag := r.Varint()
	switch tag {
	case tagNextGroup:
		return Filter{Kind: FilterRelative}
	case tagLargestObject:
		return Filter{Kind: FilterNextObject}
	case tagAbsoluteStart:
		return Filter{Kind: FilterAbsolute, Start: r.location()}
	case tagAbsoluteRange:
		f = Filter{Kind: FilterAbsolute, Start: r.location()}
		f.EndGroup = Some(r.taggedEnd(f.Start.Group))
		return f
	default:
		r.Fail(fmt.Errorf("filter type %d: %w", tag, wire.ErrValue))
		return Filter{}
	}
}

// taggedEnd reads the last group of a range: its number up to 16, then how far
// it is from the first.
func (r *reader) taggedEnd(start uint64) uint64 {
	if r.d.Version >= Draft17 {
		return r.idAfter(start)
	}
	n := r.id()
	if n < start {
		r.Fail(fmt.Errorf("range of groups %d to %d: %w", start, n, wire.ErrValue))
	}
	return n
}

// appendFields appends what 20 and later write of a relative or an absolute
// filter.
func (f Filter) appendFields(b []byte, enc wire.Encoding) []byte {
	if f.Kind == FilterRelative {
		return enc.AppendVarint(b, f.Back)
	}
	b = f.Start.append(b, enc)
	if f.EndGroup.OK {
		b = enc.AppendVarint(b, f.groups())
	}
	if f.EndGroup.OK && f.EndObject.OK {
		b = enc.AppendVarint(b, f.EndObject.V)
	}
	return b
}

// appendCounted appends the filter as 20 and 21, where the number of fields
// says what it is; the length in front tells that number (§7.2). There an
// absolute start at {0,0} would read as "next object", so it is written as
// everything, which is the same.
func (f Filter) appendCounted(b []byte, enc wire.Encoding) []byte {
	switch {
	case f.Kind == FilterNextObject:
		return Location{}.append(b, enc)
	case f.Kind == FilterNone, f == Filter{Kind: FilterAbsolute}:
		return b
	default:
		return f.appendFields(b, enc)
	}
}

func (r *reader) countedFilter() (f Filter) {
	if r.Len() == 0 {
		return Filter{}
	}
	first := r.id()
	if r.Len() == 0 {
		return Filter{Kind: FilterRelative, Back: first}
	}
	f = Filter{Kind: FilterAbsolute, Start: Location{Group: first, Object: r.id()}}
	if r.Len() == 0 && f.Start == (Location{}) {
		return Filter{Kind: FilterNextObject}
	}
	if r.Len() > 0 {
		f.EndGroup = Some(r.idAfter(first))
	}
	if r.Len() > 0 {
		f.EndObject = Some(r.id())
	}
	return f
}

// appendTyped appends the filter as 22, which needs no length.
func (f Filter) appendTyped(b []byte, enc wire.Encoding) []byte {
	switch f.Kind {
	case FilterNone:
		return enc.AppendVarint(b, filterNone)
	case FilterNextObject:
		return enc.AppendVarint(b, filterNextObject)
	case FilterRelative:
		return f.appendFields(enc.AppendVarint(b, filterRelative), enc)
	}
	fields := uint64(filterStart)
	if f.EndGroup.OK {
		fields++
		if f.EndObject.OK {
			fields++
		}
	}
	return f.appendFields(enc.AppendVarint(b, fields), enc)
}

func (r *reader) typedFilter() (f Filter) {
	switch kind := r.Varint(); kind {
	case filterNone:
		return Filter{}
	case filterNextObject:
		return Filter{Kind: FilterNextObject}
	case filterRelative:
		return Filter{Kind: FilterRelative, Back: r.id()}
	case filterStart, filterStart + 1, filterEndObject:
		f = Filter{Kind: FilterAbsolute, Start: r.location()}
		if kind > filterStart {
			f.EndGroup = Some(r.idAfter(f.Start.Group))
		}
		if kind == filterEndObject {
			f.EndObject = Some(r.id())
		}
		return f
	default:
		r.Fail(fmt.Errorf("filter type %d: %w", kind, wire.ErrValue))
		return Filter{}
	}
}

// filter reads the value of a filter parameter.
func (r *reader) filter() (f Filter) {
	switch {
	case r.d.Version >= Draft22:
		return r.typedFilter()
	case r.d.Version >= Draft20:
		r.nested(func(r *reader) { f = r.countedFilter() })
	default:
		r.nested(func(r *reader) { f = r.taggedFilter() })
	}
	return f
}
