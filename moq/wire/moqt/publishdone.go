package moqt

import (
	"math"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// PublishDone ends a subscription, PUBLISH_DONE (§6.2). The publisher sends it
// after the last stream of the subscription is closed.
type PublishDone struct {
	RequestID uint64 // of the subscription; up to 16
	Status    DoneStatus
	Number    uint64 // of a status that is OtherDone
	// Streams is how many data streams were opened for the subscription, those
	// that were reset and from 20 on those of a [Fill] among them; absent =
	// unknown. Some peers write 0 whatever it is (§14.2).
	Streams Optional[uint64]
	Reason  string
}

// unknownStreams is the number that stands for an unknown count.
func (v Version) unknownStreams() uint64 {
	if v >= Draft20 {
		return math.MaxUint64
	}
	return wire.MaxVarint
}

// Append appends the framed message.
func (m PublishDone) Append(b []byte, d Dialect) []byte {
	enc := d.Version.Encoding()
	b, start := openMessage(b, d, typePublishDone)
	b = d.appendAnswerID(b, m.RequestID)
	b = enc.AppendVarint(b, m.Status.number(d.Version, m.Number))
	b = enc.AppendVarint(b, m.Streams.or(d.Version.unknownStreams()))
	return closeMessage(enc.AppendString(b, m.Reason), start)
}

func decodePublishDone(r *reader) Message {
	m := PublishDone{RequestID: r.answerID()}
	status := r.Varint()
	if m.Status = doneStatus(status, r.d.Version); m.Status == OtherDone {
		m.Number = status
	}
	if n := r.Varint(); n < r.d.Version.unknownStreams() {
		m.Streams = Some(n)
	}
	m.Reason = r.String(MaxReason)
	return m
}
