package moqt

import "time"

// Params are the parameters of a message (§3.3). Every one may be absent, which
// is its zero value. Those a draft does not have are not written; those that 14
// has as fields of its messages are read into and written from here all the
// same. Which message may hold which parameter is the session's business: one
// that is out of place is read like any other. Callers keep to MaxParams
// altogether, of which only tokens and range filters may be many.
type Params struct {
	// DeliveryTimeout is how long an object may wait before its stream is reset.
	DeliveryTimeout Optional[time.Duration]
	// Tokens say who asks.
	Tokens []Token
	// MaxCacheDuration is how long objects may be kept; 14 and 15.
	MaxCacheDuration Optional[time.Duration]
	// RendezvousTimeout is how long a subscription waits for the track to be
	// published; 17 and later.
	RendezvousTimeout Optional[time.Duration]
	// SubgroupDeliveryTimeout is a DeliveryTimeout of a whole subgroup; 18 and later.
	SubgroupDeliveryTimeout Optional[time.Duration]
	// Expires is when the request ends by itself; 0 = never. On 14 a field, whose 0 reads as absent.
	Expires Optional[time.Duration]
	// Largest is the largest location of the track; absent = it has no object yet.
	Largest Optional[Location]
	// FillTimeout is how long the objects of a fetch may take; 18 and later.
	FillTimeout Optional[time.Duration]
	// PublisherPriority is that of a track; 15 only, later a property.
	PublisherPriority Optional[uint8]
	// Forward asks for objects to be sent; absent = true.
	Forward Optional[bool]
	// Priority is the subscriber's; 0 is the most urgent, absent = DefaultPriority.
	Priority Optional[uint8]
	// Filter is the part of the track that is wanted; absent = all of it.
	Filter Optional[Filter]
	// GroupOrder is the order of delivery.
	GroupOrder GroupOrder
	// Fill asks for what is before the start of the subscription; 20 and later.
	Fill *Fill
	// Ranges narrow the request to some objects; 19 and later.
	Ranges []RangeFilter
	// NewGroup asks the publisher for a group above this one; 15 and later.
	NewGroup Optional[uint64]
	// Prefix replaces the prefix of a namespace request; 18 and later.
	Prefix Optional[TrackNamespace]
	// IncludeProperties asks for the properties of track and objects; absent = true; 20 and later.
	IncludeProperties Optional[bool]
	// HopPath lists the relays an advertisement passed, origin first; nil =
	// absent, never empty otherwise. On a [Dialect] with Cluster.
	HopPath []uint64
	// RouteCost is what the advertised route costs; on a [Dialect] with Cluster.
	RouteCost Optional[uint64]
	// Hidden asks for names with a segment that begins with "." (§12.3). Only to
	// a peer whose [Setup] has it.
	Hidden bool
}

// DefaultPriority is the priority of subscribers and publishers who name none.
const DefaultPriority = 128

// Numbers of the parameters.
const (
	paramDeliveryTimeout         = 0x02
	paramToken                   = 0x03
	paramMaxCacheDuration        = 0x04
	paramRendezvousTimeout       = 0x04
	paramSubgroupDeliveryTimeout = 0x06
	paramExpires                 = 0x08
	paramLargest                 = 0x09
	paramFillTimeout             = 0x0a
	paramPublisherPriority       = 0x0e
	paramForward                 = 0x10
	paramPriority                = 0x20
	paramFilter                  = 0x21
	paramGroupOrder              = 0x22
	paramFill                    = 0x23
	paramNewGroup                = 0x32
	paramPrefix                  = 0x34
	paramIncludeProperties       = 0x35
	paramHopPath                 = 0x40b57
	paramRouteCost               = 0x40b58
	paramHidden                  = 0x40b5e
)

// hasParam reports whether a parameter exists. Fields of 14's messages do not
// count.
func (d Dialect) hasParam(id uint64) bool {
	v := d.Version
	switch id {
	case paramDeliveryTimeout, paramToken, paramHidden:
		return true
	case paramMaxCacheDuration: // and paramRendezvousTimeout
		return v != Draft16
	case paramExpires, paramLargest, paramForward, paramPriority, paramFilter, paramGroupOrder, paramNewGroup:
		return v >= Draft15
	case paramPublisherPriority:
		return v == Draft15
	case paramSubgroupDeliveryTimeout, paramFillTimeout, paramPrefix:
		return v >= Draft18
	case uint64(RangeSubgroup), uint64(RangeObject), uint64(RangePriority), uint64(RangeObjectProperty), uint64(RangeTrackProperty):
		return v >= Draft19
	case paramFill, paramIncludeProperties:
		return v >= Draft20
	case paramHopPath, paramRouteCost:
		return d.cluster()
	default:
		return false
	}
}

// repeats reports whether a parameter may occur several times in a message.
func repeats(id uint64) bool {
	return id == paramToken || uint64(RangeSubgroup) <= id && id <= uint64(RangeTrackProperty)
}
