package moqt

import (
	"fmt"
	"time"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Fill asks a publisher to send, on one fetch stream that bears the request id
// of the subscription, what of the track lies before the point where the
// subscription joins (§7.5); 20 and later.
type Fill struct {
	Timeout    Optional[time.Duration]
	Priority   Optional[uint8]  // absent: the subscription's
	Filter     Optional[Filter] // absent: the subscription's
	GroupOrder GroupOrder       // zero: the subscription's
	Ranges     []RangeFilter
}

// params returns the fill as the parameters it is written as.
func (f Fill) params() Params {
	return Params{
		FillTimeout: f.Timeout, Priority: f.Priority, Filter: f.Filter, GroupOrder: f.GroupOrder, Ranges: f.Ranges,
	}
}

// fill reads the value of FILL_PARAMETERS: a parameter block of its own, with
// its own count and chain of types.
func (r *reader) fill() *Fill {
	var p Params
	r.nested(func(r *reader) { p = r.params(inFill) })
	return &Fill{Timeout: p.FillTimeout, Priority: p.Priority, Filter: p.Filter, GroupOrder: p.GroupOrder, Ranges: p.Ranges}
}

// inFill refuses parameters that have no place in a fill.
func inFill(id uint64) error {
	switch id {
	case paramFillTimeout, paramPriority, paramFilter, paramGroupOrder,
		uint64(RangeSubgroup), uint64(RangeObject), uint64(RangePriority), uint64(RangeObjectProperty):
		return nil
	default:
		return fmt.Errorf("in a fill: %w", wire.ErrValue)
	}
}
