package moqt

import "github.com/moqmesh/moqmesh/moq/wire"

// RequestOK accepts a request that has no answer with data of its own:
// REQUEST_OK, and what older drafts have in its place: PUBLISH_NAMESPACE_OK,
// SUBSCRIBE_NAMESPACE_OK and TRACK_STATUS_OK on 14, PUBLISH_OK up to 17 (§6.2).
type RequestOK struct {
	// For chooses the message. Decoded it is ForAny where the message does not
	// tell; then the request does.
	For       Request
	RequestID uint64 // of the request; up to 16
	// Params are those of PUBLISH_OK and TRACK_STATUS_OK. Otherwise leave them
	// empty: peers close on any they do not expect.
	Params     Params
	Properties Properties // of a track whose status was asked for; 18 and later
}

// Append appends the framed message; nothing on 14, where updates are not
// answered, if it is for one.
func (m RequestOK) Append(b []byte, d Dialect) []byte {
	t, ok := m.kind(d.Version)
	if !ok {
		return b
	}
	b, start := openMessage(b, d, t)
	b = d.appendAnswerID(b, m.RequestID)
	if d.Version == Draft14 {
		b = m.appendInline(b, d)
	} else {
		b = d.appendParams(b, m.Params)
	}
	if d.Version >= Draft18 {
		b = d.appendTrackProperties(b, m.Properties)
	}
	return closeMessage(b, start)
}

func (m RequestOK) kind(v Version) (t Type, ok bool) {
	switch {
	case m.For == ForPublish && v <= Draft17:
		return typePublishOK, true
	case v >= Draft15 || m.For == ForPublishNamespace:
		return typeRequestOK, true
	case m.For == ForSubscribeNamespace:
		return typeSubscribeNsOK14, true
	default:
		return typeTrackStatusOK14, m.For == ForTrackStatus
	}
}

// appendInline appends what follows the request id on 14.
func (m RequestOK) appendInline(b []byte, d Dialect) []byte {
	p := m.Params
	switch m.For {
	case ForPublish:
		b = wire.AppendBool(b, p.Forward.or(true))
		b = append(b, p.Priority.or(DefaultPriority), byte(p.GroupOrder))
		return d.appendParams(p.Filter.V.appendTagged(b, d.Version), p)
	case ForTrackStatus:
		b = wire.AppendVarint(append(b, 0), millis(p.Expires.V)) // behind an alias that nothing uses
		return d.appendParams(p.appendContent(b), p)
	default:
		return b
	}
}

func okFor(request Request) func(*reader) Message {
	return func(r *reader) Message {
		m := RequestOK{For: request, RequestID: r.answerID()}
		if r.d.Version == Draft14 {
			m.Params = r.inlineOK(request)
		} else {
			m.Params = r.params(nil)
		}
		if r.d.Version >= Draft18 {
			m.Properties = r.trackProperties()
		}
		return m
	}
}

func (r *reader) inlineOK(request Request) (p Params) {
	switch request {
	case ForPublish:
		forward, priority, order, filter := r.Bool(), r.Uint8(), r.inlineOrder(), r.taggedFilter()
		p = r.params(nil)
		p.Forward, p.Priority, p.Filter = Some(forward), Some(priority), Some(filter)
		p.GroupOrder = order
	case ForTrackStatus:
		r.Varint()
		p = r.inlineAnswer()
	}
	return p
}
