package moqt

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// RangeFilter narrows a subscription to objects with certain numbers (§7.4); 19
// and later. A receiver allows as many ranges as its [Setup] says, by default
// none.
type RangeFilter struct {
	Kind RangeKind
	// Value is what [RangeFilter.Ranges] takes apart. It aliases the body when
	// decoded and is not judged there: a malformed one fails the request, with
	// [InvalidFilter], and not the session.
	Value []byte
}

// RangeKind says which number of an object a [RangeFilter] looks at. Its value
// is the number of the parameter.
type RangeKind uint8

// The kinds of range filter. The last two look at a property.
const (
	RangeSubgroup RangeKind = iota + 0x25
	RangeObject
	RangePriority
	RangeObjectProperty
	RangeTrackProperty // of SubscribeTracks
)

func (k RangeKind) hasProperty() bool { return k >= RangeObjectProperty }

// Ranges is the value of a [RangeFilter]. Filters of the same set must all
// match, and one set of several must.
type Ranges struct {
	Property uint64 // type of the property, of the kinds that look at one
	Set      uint8
	Ranges   []Range // upwards
}

// Range is a run of numbers, inclusive at both ends.
type Range struct {
	Start uint64
	End   Optional[uint64] // absent = open; in the last range only
}

// NewRangeFilter returns the filter of that kind for ranges that go upwards and
// do not overlap.
func NewRangeFilter(kind RangeKind, v Version, m Ranges) RangeFilter {
	enc := v.Encoding()
	var b []byte
	if kind.hasProperty() {
		b = enc.AppendVarint(b, m.Property)
	}
	b = append(b, m.Set)
	end := uint64(0)
	for _, r := range m.Ranges {
		b = enc.AppendVarint(b, r.Start-end)
		if end = r.End.V; r.End.OK {
			b = enc.AppendVarint(b, end-r.Start)
		}
	}
	return RangeFilter{kind, b}
}

// Ranges takes the value apart.
func (f RangeFilter) Ranges(v Version) (m Ranges, err error) {
	r := Dialect{Version: v}.reader(f.Value)
	if f.Kind.hasProperty() {
		m.Property = r.Varint()
	}
	m.Set = r.Uint8()
	for end := uint64(0); r.Len() > 0; {
		one := Range{Start: r.sum(end)}
		if r.Len() > 0 {
			end = r.sum(one.Start)
			one.End = Some(end)
		}
		m.Ranges = append(m.Ranges, one)
	}
	if len(m.Ranges) == 0 {
		r.Fail(wire.ErrShort)
	}
	if err := r.Close(); err != nil {
		return Ranges{}, err
	}
	return m, nil
}

// sum reads the distance of a number from another and fails where it leads
// nowhere.
func (r *reader) sum(n uint64) uint64 {
	delta := r.Varint()
	if n+delta < n {
		r.Fail(fmt.Errorf("%d after %d: %w", delta, n, wire.ErrTooLarge))
		return 0
	}
	return n + delta
}
