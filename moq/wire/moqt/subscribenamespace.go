package moqt

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// SubscribeNamespace asks which namespaces there are below a prefix,
// SUBSCRIBE_NAMESPACE (§6.2). The empty prefix asks for all of them.
type SubscribeNamespace struct {
	RequestID uint64
	Prefix    TrackNamespace
	Wants     Wants // on 16 and 17
	Params    Params
}

// Wants says what a [SubscribeNamespace] asks for on 16 and 17. Before, it asks
// for advertisements and tracks; after, tracks have [SubscribeTracks].
type Wants uint8

// What a SubscribeNamespace can ask for.
const (
	WantTracks     Wants = iota // [Publish] for every track
	WantNamespaces              // [Namespace]
	WantBoth
)

func (v Version) hasWants() bool { return v == Draft16 || v == Draft17 }

// Append appends the framed message.
func (m SubscribeNamespace) Append(b []byte, d Dialect) []byte {
	enc := d.Version.Encoding()
	t := typeSubscribeNamespace
	if d.Version >= Draft18 {
		t = typeSubscribeNamespace18
	}
	b, start := openMessage(b, d, t)
	b = m.Prefix.append(d.appendRequestID(b, m.RequestID), enc)
	if d.Version.hasWants() {
		b = enc.AppendVarint(b, uint64(m.Wants))
	}
	return closeMessage(d.appendParams(b, m.Params), start)
}

func decodeSubscribeNamespace(r *reader) Message {
	m := SubscribeNamespace{RequestID: r.requestID(), Prefix: r.namespaceAlone()}
	if r.d.Version.hasWants() {
		m.Wants = r.wants()
	}
	m.Params = r.params(nil)
	return m
}

func (r *reader) wants() Wants {
	n := r.Varint()
	if n > uint64(WantBoth) {
		r.Fail(fmt.Errorf("subscribe options %d: %w", n, wire.ErrValue))
		return 0
	}
	return Wants(n)
}

// SubscribeTracks asks for every track below a prefix to be published,
// SUBSCRIBE_TRACKS; 18 and later.
type SubscribeTracks struct {
	RequestID uint64
	Prefix    TrackNamespace
	Params    Params
}

// Append appends the framed message.
func (m SubscribeTracks) Append(b []byte, d Dialect) []byte {
	b, start := openMessage(b, d, typeSubscribeTracks)
	b = m.Prefix.append(d.appendRequestID(b, m.RequestID), d.Version.Encoding())
	return closeMessage(d.appendParams(b, m.Params), start)
}

func decodeSubscribeTracks(r *reader) Message {
	return SubscribeTracks{RequestID: r.requestID(), Prefix: r.namespaceAlone(), Params: r.params(nil)}
}

// UnsubscribeNamespace ends a [SubscribeNamespace], UNSUBSCRIBE_NAMESPACE; 14
// and 15, later the end of the stream does. The text of 14 names it by prefix,
// but peers write the request id there too: so do we, and read either (§6.2).
type UnsubscribeNamespace struct {
	RequestID uint64
	// Prefix is what a peer named instead of a request id; nil otherwise.
	Prefix TrackNamespace
}

// Append appends the framed message. A prefix is not written.
func (m UnsubscribeNamespace) Append(b []byte, d Dialect) []byte {
	return appendIDMessage(b, d, typeUnsubscribeNamespace, m.RequestID)
}

// decodeUnsubscribeNamespace takes a body that is one varint as a request id. A
// prefix is longer, but for the empty one, which is told apart by nothing and
// reads as request 0.
func decodeUnsubscribeNamespace(r *reader) Message {
	whole := r.Reader
	if id := r.Varint(); r.Len() == 0 || r.d.Version != Draft14 {
		return UnsubscribeNamespace{RequestID: id}
	}
	r.Reader = whole
	return UnsubscribeNamespace{Prefix: r.namespaceAlone()}
}
