package moqt

// The messages that are one number; up to 16.

// Unsubscribe ends a subscription, UNSUBSCRIBE.
type Unsubscribe struct {
	RequestID uint64 // of the subscription
}

// FetchCancel ends a fetch, FETCH_CANCEL.
type FetchCancel struct {
	RequestID uint64 // of the fetch
}

// MaxRequestID lets the peer make more requests, MAX_REQUEST_ID (§5.2).
type MaxRequestID struct {
	Max uint64 // the peer's request ids must stay below it; it only grows
}

// RequestsBlocked says that the sender has no request id left,
// REQUESTS_BLOCKED. One peer closes the session on it (§14.1).
type RequestsBlocked struct {
	Max uint64 // the bound that was reached
}

// Append appends the framed message.
func (m Unsubscribe) Append(b []byte, d Dialect) []byte {
	return appendIDMessage(b, d, typeUnsubscribe, m.RequestID)
}

// Append appends the framed message.
func (m FetchCancel) Append(b []byte, d Dialect) []byte {
	return appendIDMessage(b, d, typeFetchCancel, m.RequestID)
}

// Append appends the framed message.
func (m MaxRequestID) Append(b []byte, d Dialect) []byte {
	return appendIDMessage(b, d, typeMaxRequestID, m.Max)
}

// Append appends the framed message.
func (m RequestsBlocked) Append(b []byte, d Dialect) []byte {
	return appendIDMessage(b, d, typeRequestsBlocked, m.Max)
}

func appendIDMessage(b []byte, d Dialect, t Type, id uint64) []byte {
	b, start := openMessage(b, d, t)
	return closeMessage(d.Version.Encoding().AppendVarint(b, id), start)
}

func decodeUnsubscribe(r *reader) Message     { return Unsubscribe{r.Varint()} }
func decodeFetchCancel(r *reader) Message     { return FetchCancel{r.Varint()} }
func decodeMaxRequestID(r *reader) Message    { return MaxRequestID{r.Varint()} }
func decodeRequestsBlocked(r *reader) Message { return RequestsBlocked{r.Varint()} }
