package moqt

import (
	"fmt"
	"slices"
	"time"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// params reads a parameter block. Where place is not nil it may refuse a
// parameter. Unknown parameters are skipped up to 16 and an error from then on,
// since only a known number tells how long the value is.
func (r *reader) params(place func(id uint64) error) (p Params) {
	types := r.d.Version.pairTypes()
	seen := make([]uint64, 0, 16)
	for range r.Count(MaxParams) {
		id := types.read(&r.Reader)
		if r.Err() != nil {
			break
		}
		if err := r.checkParam(id, seen, place); err != nil {
			r.Fail(fmt.Errorf("parameter %#x: %w", id, err))
			break
		}
		seen = append(seen, id)
		if !r.d.hasParam(id) {
			r.skipPair(id)
			continue
		}
		if p.read(r, id); r.Err() != nil {
			return Params{}
		}
	}
	return p
}

func (r *reader) checkParam(id uint64, seen []uint64, place func(id uint64) error) error {
	switch {
	case r.d.Version.hasTypedParams() && !r.d.hasParam(id):
		return fmt.Errorf("unknown: %w", wire.ErrValue)
	case slices.Contains(seen, id) && !repeats(id):
		return wire.ErrDuplicate
	case place != nil:
		return place(id)
	default:
		return nil
	}
}

// skipPair skips the value of a pair whose form follows from whether its type
// is even or odd.
func (r *reader) skipPair(id uint64) {
	if id%2 == 0 {
		r.Varint()
	} else {
		r.Bytes(MaxBody)
	}
}

// read reads the value of one parameter that exists.
func (p *Params) read(r *reader, id uint64) {
	switch id {
	case paramDeliveryTimeout:
		p.DeliveryTimeout = r.millisParam()
	case paramToken:
		p.Tokens = append(p.Tokens, r.token())
	case paramMaxCacheDuration: // and paramRendezvousTimeout
		p.readTimeout04(r)
	case paramSubgroupDeliveryTimeout:
		p.SubgroupDeliveryTimeout = r.millisParam()
	case paramExpires:
		p.Expires = r.millisParam()
	case paramLargest:
		p.Largest = Some(r.largestParam())
	case paramFillTimeout:
		p.FillTimeout = r.millisParam()
	case paramPublisherPriority:
		p.PublisherPriority = Some(r.octetParam())
	case paramForward:
		p.Forward = Some(r.flagParam())
	case paramPriority:
		p.Priority = Some(r.octetParam())
	case paramFilter:
		p.Filter = Some(r.filter())
	case paramGroupOrder:
		p.GroupOrder = r.orderParam()
	case paramFill:
		p.Fill = r.fill()
	default:
		p.readLater(r, id)
	}
}

// readLater reads the parameters that came last.
func (p *Params) readLater(r *reader, id uint64) {
	switch id {
	case paramNewGroup:
		p.NewGroup = Some(r.Varint())
	case paramPrefix:
		p.Prefix = Some(r.namespaceAlone())
	case paramIncludeProperties:
		p.IncludeProperties = Some(r.includePropertiesParam())
	case paramHopPath:
		p.HopPath = r.hopPath()
	case paramRouteCost:
		p.RouteCost = Some(min(r.Varint(), wire.MaxVarint))
	case paramHidden:
		p.Hidden = r.checkFlag(r.Varint())
	default:
		p.Ranges = append(p.Ranges, RangeFilter{RangeKind(id), r.Bytes(MaxBody)})
	}
}

func (p *Params) readTimeout04(r *reader) {
	if r.d.Version <= Draft15 {
		p.MaxCacheDuration = r.millisParam()
	} else {
		p.RendezvousTimeout = r.millisParam()
	}
}

func (r *reader) millisParam() Optional[time.Duration] { return Some(duration(r.Varint())) }

func (r *reader) octetParam() uint8 {
	if r.d.Version.hasTypedParams() {
		return r.Uint8()
	}
	n := r.Varint()
	if n > 0xff {
		r.Fail(fmt.Errorf("%d in a byte: %w", n, wire.ErrValue))
	}
	return uint8(n)
}

func (r *reader) flagParam() bool { return r.checkFlag(uint64(r.octetParam())) }

func (r *reader) checkFlag(n uint64) bool {
	if n > 1 {
		r.Fail(fmt.Errorf("flag %d: %w", n, wire.ErrValue))
	}
	return n == 1
}

// orderParam reads a group order. Leaving it to the publisher is done by
// leaving the parameter out.
func (r *reader) orderParam() GroupOrder {
	n := r.octetParam()
	if n == 0 && r.Err() == nil {
		r.Fail(fmt.Errorf("group order 0: %w", wire.ErrValue))
	}
	return r.checkOrder(uint64(n))
}

func (r *reader) largestParam() (l Location) {
	if r.d.Version.hasTypedParams() && !r.d.prefixed() {
		return r.location()
	}
	r.nested(func(r *reader) { l = r.location() })
	return l
}

func (r *reader) includePropertiesParam() (f bool) {
	if !r.d.prefixed() {
		return r.flagParam()
	}
	r.nested(func(r *reader) { f = r.flagParam() })
	return f
}
