package lite

import (
	"fmt"
	"time"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Preferences say how a subscription is to be served: fields 4 to 10 of
// SUBSCRIBE, and all of SUBSCRIBE_UPDATE (§8.1, §8.2).
type Preferences struct {
	Priority uint8         // higher is more urgent
	MaxAge   time.Duration // how stale a group may get; 0 = only the live edge; 03 and later
	// GroupStart is the first group wanted. 03 and later.
	//
	// Up to 06-wip, absent means from the latest group and group 0 is a
	// position. From 06 on it is a floor where absent and 0 are the same byte:
	// it reads as absent, unless FrameStart makes it the position it must be.
	GroupStart Optional
	GroupEnd   Optional // last group wanted, inclusive; absent = open; 03 and later
	FrameStart uint64   // first frame wanted of GroupStart; 06 and later
	FrameEnd   Optional // last frame wanted of GroupEnd, which must be present; 06 and later
}

func (p Preferences) append(b []byte, v Version) []byte {
	b = append(b, p.Priority)
	if !v.HasSubscribeUpdate() {
		return b
	}
	b = appendOrdered(b, v)
	b = appendMillis(b, v, p.MaxAge)
	if !v.HasFrameBounds() {
		b = p.GroupStart.append(b, v)
		return p.GroupEnd.append(b, v)
	}
	enc := v.Encoding()
	b = enc.AppendVarint(b, p.GroupStart.V)
	b = p.GroupEnd.append(b, v)
	b = enc.AppendVarint(b, p.FrameStart)
	return p.FrameEnd.append(b, v)
}

func readPreferences(r *wire.Reader, v Version) (p Preferences) {
	p.Priority = r.Uint8()
	if !v.HasSubscribeUpdate() {
		return p
	}
	skipOrdered(r, v)
	p.MaxAge = readMillis(r)
	if !v.HasFrameBounds() {
		p.GroupStart = readOptional(r)
		p.GroupEnd = readOptional(r)
		return p
	}
	start := r.Varint()
	p.GroupEnd = readOptional(r)
	p.FrameStart = r.Varint()
	p.FrameEnd = readOptional(r)
	if start != 0 || p.FrameStart != 0 {
		p.GroupStart = Some(start)
	}
	if p.FrameEnd.OK && !p.GroupEnd.OK {
		r.Fail(fmt.Errorf("frame end without group end: %w", wire.ErrValue))
	}
	return p
}
