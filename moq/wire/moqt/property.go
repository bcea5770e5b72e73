package moqt

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Property is one property of a track or an object (§3.5).
type Property struct {
	ID     uint64
	Number uint64 // of an even id
	Bytes  []byte // of an odd id; aliases what it was decoded from, nil when empty
}

// Ids of the properties in use. Others are kept and passed on as they are.
const (
	PropertyDeliveryTimeout         uint64 = 0x02 // ms
	PropertyMaxCacheDuration        uint64 = 0x04 // ms, of a track
	PropertySubgroupDeliveryTimeout uint64 = 0x06 // ms
	PropertyTimescale               uint64 = 0x08 // units a second; with it a track has timestamps
	PropertyImmutable               uint64 = 0x0b // properties that are passed on unchanged
	PropertyPriority                uint64 = 0x0e // DEFAULT_PUBLISHER_PRIORITY of a track; absent = DefaultPriority
	PropertyTimestamp               uint64 = 0x10 // of an object, in units of the timescale
	PropertyGroupOrder              uint64 = 0x22 // DEFAULT_PUBLISHER_GROUP_ORDER of a track
	PropertyDynamicGroups           uint64 = 0x30 // 1: the track takes Params.NewGroup
	PropertyGroupGap                uint64 = 0x3c // PRIOR_GROUP_ID_GAP of an object
	PropertyObjectGap               uint64 = 0x3e // PRIOR_OBJECT_ID_GAP of an object
)

// Properties are those of a track or an object. Senders list them upwards by
// id, which from 16 on is the only order there is.
type Properties []Property

// Number returns the value of the first property of an even id.
func (ps Properties) Number(id uint64) (n uint64, ok bool) {
	for _, p := range ps {
		if p.ID == id {
			return p.Number, true
		}
	}
	return 0, false
}

// Mandatory returns the id of a property that only those may pass on who
// understand it, ok false if there is none; 18 and later (§3.5). A track that
// has one is refused with [UnsupportedExtension].
func (ps Properties) Mandatory(v Version) (id uint64, ok bool) {
	for _, p := range ps {
		if v >= Draft18 && 0x4000 <= p.ID && p.ID <= 0x7fff {
			return p.ID, true
		}
	}
	return 0, false
}

// Append appends the properties, without a length. Out of order they are
// sorted first.
func (ps Properties) Append(b []byte, v Version) []byte {
	byID := func(p, q Property) int { return cmp.Compare(p.ID, q.ID) }
	if !slices.IsSortedFunc(ps, byID) {
		ps = slices.Clone(ps)
		slices.SortStableFunc(ps, byID)
	}
	enc, types := v.Encoding(), v.pairTypes()
	for _, p := range ps {
		b = types.append(b, enc, p.ID)
		if p.ID%2 == 0 {
			b = enc.AppendVarint(b, p.Number)
		} else {
			b = enc.AppendBytes(b, p.Bytes)
		}
	}
	return b
}

// AppendTimestamp appends the only property most objects have.
func AppendTimestamp(b []byte, v Version, timestamp uint64) []byte {
	enc := v.Encoding()
	return enc.AppendVarint(enc.AppendVarint(b, PropertyTimestamp), timestamp)
}

// A PropertyReader goes through a block of properties without allocating.
type PropertyReader struct {
	r     wire.Reader
	types pairTypes
}

// ReadProperties returns a reader of the properties of an [Object], which
// excludes their length.
func ReadProperties(block []byte, v Version) PropertyReader {
	return PropertyReader{wire.NewReader(v.Encoding(), block), v.pairTypes()}
}

// Next returns the next property; ok is false at the end of the block and where
// it is malformed, which Err tells apart.
func (p *PropertyReader) Next() (one Property, ok bool) {
	if p.r.Len() == 0 {
		return Property{}, false
	}
	one.ID = p.types.read(&p.r)
	if one.ID%2 == 0 {
		one.Number = p.r.Varint()
	} else if value := p.r.Bytes(MaxBody); len(value) > 0 {
		one.Bytes = value
	}
	if p.r.Err() != nil {
		return Property{}, false
	}
	return one, true
}

// Err returns what is wrong with the block, nil so far. It wraps [ErrPair].
func (p *PropertyReader) Err() error {
	if err := p.r.Err(); err != nil {
		return fmt.Errorf("properties: %w: %w", ErrPair, err)
	}
	return nil
}

// Timestamp returns the timestamp among the properties of an object, ok false
// if it has none. It does not allocate.
func Timestamp(block []byte, v Version) (timestamp uint64, ok bool, err error) {
	p := ReadProperties(block, v)
	for {
		one, more := p.Next()
		if !more {
			return 0, false, p.Err()
		}
		if one.ID == PropertyTimestamp {
			return one.Number, true, nil
		}
	}
}

// trackProperties reads the properties that end a message, and checks the
// values of those with a small range.
func (r *reader) trackProperties() (ps Properties) {
	if !r.d.Version.HasTrackProperties() {
		return nil
	}
	if r.Len() > MaxTrackProperties {
		r.Fail(fmt.Errorf("%d bytes of track properties: %w", r.Len(), wire.ErrTooLarge))
	}
	p := ReadProperties(r.Rest(), r.d.Version)
	for {
		one, ok := p.Next()
		if !ok {
			break
		}
		if len(ps) == MaxTrackPairs {
			r.Fail(fmt.Errorf("track properties: %w", wire.ErrTooMany))
			break
		}
		if err := one.check(); err != nil {
			r.Fail(err)
		}
		ps = append(ps, one)
	}
	if err := p.Err(); err != nil {
		r.Fail(err)
	}
	return ps
}

func (p Property) check() error {
	ok := true
	switch p.ID {
	case PropertyPriority:
		ok = p.Number <= 0xff
	case PropertyGroupOrder:
		ok = p.Number == uint64(Ascending) || p.Number == uint64(Descending)
	case PropertyDynamicGroups:
		ok = p.Number <= 1
	}
	if !ok {
		return fmt.Errorf("property %#x is %d: %w", p.ID, p.Number, wire.ErrValue)
	}
	return nil
}

// appendTrackProperties appends what trackProperties reads.
func (d Dialect) appendTrackProperties(b []byte, ps Properties) []byte {
	if !d.Version.HasTrackProperties() {
		return b
	}
	return ps.Append(b, d.Version)
}
