package moqt

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// PublishNamespace advertises a namespace with a request, PUBLISH_NAMESPACE
// (§6.2). It holds until [PublishNamespaceDone], or from 17 on until the
// request's stream ends. Updates to path and cost are [RequestUpdate]s.
type PublishNamespace struct {
	RequestID uint64
	Namespace TrackNamespace
	Tokens    []Token
	Route     Route
}

// Route is how an advertised namespace is reached, on a [Dialect] with Cluster
// (§13.4).
type Route struct {
	HopPath []uint64 // origin first, sender last, 1 to MaxHops ids
	Cost    uint64   // sum of link prices from the origin; 0 is written by leaving it out
}

func (t Route) params() Params {
	return Params{HopPath: t.HopPath, RouteCost: Optional[uint64]{t.Cost, t.Cost != 0}}
}

// route takes the route out of the parameters of an advertisement.
func (r *reader) route(p Params) Route {
	if r.d.cluster() && p.HopPath == nil {
		r.Fail(fmt.Errorf("no hop path: %w", wire.ErrShort))
	}
	return Route{HopPath: p.HopPath, Cost: p.RouteCost.V}
}

// Append appends the framed message.
func (m PublishNamespace) Append(b []byte, d Dialect) []byte {
	b, start := openMessage(b, d, typePublishNamespace)
	b = d.appendRequestID(b, m.RequestID)
	b = m.Namespace.append(b, d.Version.Encoding())
	p := m.Route.params()
	p.Tokens = m.Tokens
	return closeMessage(d.appendParams(b, p), start)
}

func decodePublishNamespace(r *reader) Message {
	m := PublishNamespace{RequestID: r.requestID(), Namespace: r.namespaceAlone()}
	p := r.params(nil)
	m.Tokens, m.Route = p.Tokens, r.route(p)
	return m
}

// PublishNamespaceDone withdraws a [PublishNamespace], sent by its advertiser;
// up to 16.
type PublishNamespaceDone struct {
	RequestID uint64         // of the advertisement; on 16
	Namespace TrackNamespace // that was advertised; on 14 and 15
}

// Append appends the framed message.
func (m PublishNamespaceDone) Append(b []byte, d Dialect) []byte {
	b, start := openMessage(b, d, typePublishNamespaceDone)
	return closeMessage(d.appendAdvertisement(b, m.RequestID, m.Namespace), start)
}

func decodePublishNamespaceDone(r *reader) Message {
	var m PublishNamespaceDone
	m.RequestID, m.Namespace = r.advertisement()
	return m
}

// PublishNamespaceCancel refuses a [PublishNamespace] that had been accepted;
// up to 16.
type PublishNamespaceCancel struct {
	RequestID uint64         // of the advertisement; on 16
	Namespace TrackNamespace // that was advertised; on 14 and 15
	Code      RequestCode
	Number    uint64 // of a code that is OtherRequestCode
	Reason    string
}

// Append appends the framed message.
func (m PublishNamespaceCancel) Append(b []byte, d Dialect) []byte {
	enc := d.Version.Encoding()
	b, start := openMessage(b, d, typePublishNamespaceStop)
	b = d.appendAdvertisement(b, m.RequestID, m.Namespace)
	b = enc.AppendVarint(b, m.Code.number(d.Version, ForPublishNamespace, m.Number))
	return closeMessage(enc.AppendString(b, m.Reason), start)
}

func decodePublishNamespaceCancel(r *reader) Message {
	var m PublishNamespaceCancel
	m.RequestID, m.Namespace = r.advertisement()
	code := r.Varint()
	if m.Code = requestCode(code, r.d.Version, ForPublishNamespace); m.Code == OtherRequestCode {
		m.Number = code
	}
	m.Reason = r.String(MaxReason)
	return m
}

// appendAdvertisement appends what names an advertisement.
func (d Dialect) appendAdvertisement(b []byte, id uint64, ns TrackNamespace) []byte {
	if d.Version >= Draft16 {
		return d.Version.Encoding().AppendVarint(b, id)
	}
	return ns.append(b, d.Version.Encoding())
}

func (r *reader) advertisement() (id uint64, ns TrackNamespace) {
	if r.d.Version >= Draft16 {
		return r.Varint(), nil
	}
	return 0, r.namespaceAlone()
}
