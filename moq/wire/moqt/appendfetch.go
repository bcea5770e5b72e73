package moqt

import "github.com/moqmesh/moqmesh/moq/wire"

// Append appends an object up to its payload, in the shortest form.
func (f *FetchObjects) Append(b []byte, o FetchObject) []byte {
	enc := f.Version.Encoding()
	if f.Version == Draft14 {
		return o.appendFixed(b, enc)
	}
	flags := f.flags(o)
	b = enc.AppendVarint(b, flags)
	b = f.appendLocation(b, o, flags)
	if flags&fetchPriority != 0 {
		b = append(b, o.Priority)
	}
	if flags&fetchProperties != 0 {
		b = enc.AppendBytes(b, o.Properties)
	}
	f.advance(o)
	return o.appendSize(b, f.Version)
}

// appendFixed appends an object as 14 has it.
func (o FetchObject) appendFixed(b []byte, enc wire.Encoding) []byte {
	b = enc.AppendVarint(b, o.Group)
	b = enc.AppendVarint(b, o.Subgroup)
	b = enc.AppendVarint(b, o.Object)
	b = append(b, o.Priority)
	b = enc.AppendBytes(b, o.Properties)
	return o.appendSize(b, Draft14)
}

// appendSize appends the length of the payload, and up to 15 the status.
func (o FetchObject) appendSize(b []byte, v Version) []byte {
	enc := v.Encoding()
	b = enc.AppendVarint(b, o.Size)
	if o.Size == 0 && v <= Draft15 {
		b = enc.AppendVarint(b, uint64(o.Status))
	}
	return b
}

func (f *FetchObjects) flags(o FetchObject) uint64 {
	flags := f.subgroupFlags(o)
	sameGroup := f.last.OK && o.Group == f.last.V.Group
	if !sameGroup {
		flags |= fetchGroup
	}
	if !sameGroup || o.Object != f.last.V.Object+1 {
		flags |= fetchObject
	}
	if f.priority != Some(o.Priority) {
		flags |= fetchPriority
	}
	if len(o.Properties) > 0 {
		flags |= fetchProperties
	}
	return flags
}

func (f *FetchObjects) subgroupFlags(o FetchObject) uint64 {
	switch {
	case o.Datagram && f.Version >= Draft16:
		return fetchDatagram
	case o.Subgroup == 0:
		return fetchSubgroupZero
	case f.subgroup == Some(o.Subgroup):
		return fetchSubgroupSame
	case f.subgroup == Some(o.Subgroup-1):
		return fetchSubgroupNext
	default:
		return fetchSubgroupField
	}
}

// appendLocation appends those of group, subgroup and object that the flags
// announce.
func (f *FetchObjects) appendLocation(b []byte, o FetchObject, flags uint64) []byte {
	enc := f.Version.Encoding()
	if flags&fetchGroup != 0 {
		b = enc.AppendVarint(b, f.groupField(o.Group))
	}
	if hasSubgroupField(flags) {
		b = enc.AppendVarint(b, o.Subgroup)
	}
	if flags&fetchObject != 0 {
		b = enc.AppendVarint(b, f.objectField(o.Object, flags))
	}
	return b
}

// groupField is a group on the wire: from 18 on but for the first the number of
// groups in between.
func (f *FetchObjects) groupField(group uint64) uint64 {
	switch {
	case !f.Version.hasFetchDeltas() || !f.last.OK:
		return group
	case f.Descending:
		return f.last.V.Group - group - 1
	default:
		return group - f.last.V.Group - 1
	}
}

// objectField is an object on the wire: from 18 on within a group the distance
// to the one before.
func (f *FetchObjects) objectField(object, flags uint64) uint64 {
	if !f.Version.hasFetchDeltas() || flags&fetchGroup != 0 {
		return object
	}
	return object - f.last.V.Object
}

func hasSubgroupField(flags uint64) bool {
	return flags&(fetchDatagram|fetchSubgroupMask) == fetchSubgroupField
}
