package moqt

import (
	"time"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// SubscribeOK accepts a subscription, SUBSCRIBE_OK (§6.2).
type SubscribeOK struct {
	RequestID uint64 // of the request; up to 16
	Alias     uint64 // stands for the track in headers and datagrams of the session
	// Params have expires and largest in every draft, on 14 and 15 the group
	// order as well.
	Params     Params
	Properties Properties // of the track; 16 and later
}

// Append appends the framed message.
func (m SubscribeOK) Append(b []byte, d Dialect) []byte {
	enc := d.Version.Encoding()
	b, start := openMessage(b, d, typeSubscribeOK)
	b = d.appendAnswerID(b, m.RequestID)
	b = enc.AppendVarint(b, m.Alias)
	if d.Version == Draft14 {
		b = enc.AppendVarint(b, millis(m.Params.Expires.V))
		b = m.Params.appendContent(b)
	}
	b = d.appendParams(b, m.Params)
	return closeMessage(d.appendTrackProperties(b, m.Properties), start)
}

// appendContent appends how 14 says in which order groups come and how far the
// track is.
func (p Params) appendContent(b []byte) []byte {
	b = wire.AppendBool(append(b, byte(p.GroupOrder)), p.Largest.OK)
	if p.Largest.OK {
		b = p.Largest.V.append(b, wire.QUIC)
	}
	return b
}

func decodeSubscribeOK(r *reader) Message {
	m := SubscribeOK{RequestID: r.answerID(), Alias: r.Varint()}
	if r.d.Version == Draft14 {
		m.Params = r.inlineAnswer()
	} else {
		m.Params = r.params(nil)
	}
	m.Properties = r.trackProperties()
	return m
}

// inlineAnswer reads the fields of 14 that follow the alias, and the parameters.
func (r *reader) inlineAnswer() Params {
	expires := r.expires()
	order, largest := r.content()
	p := r.params(nil)
	p.Expires, p.GroupOrder, p.Largest = expires, order, largest
	return p
}

// expires reads a field where 0 stands for never.
func (r *reader) expires() (e Optional[time.Duration]) {
	if n := r.Varint(); n != 0 {
		return Some(duration(n))
	}
	return e
}

// content reads what appendContent appends.
func (r *reader) content() (order GroupOrder, largest Optional[Location]) {
	order = r.inlineOrder()
	if r.Bool() {
		largest = Some(r.location())
	}
	return order, largest
}
