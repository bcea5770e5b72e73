package moqt

import "time"

// RequestError refuses a request, or ends one that was accepted: REQUEST_ERROR,
// and on 14 the error message of each request (§6.2).
type RequestError struct {
	// For chooses the message on 14. Decoded it is ForAny from 15 on.
	For       Request
	RequestID uint64 // of the request; up to 16
	Code      RequestCode
	Number    uint64 // of a code that is OtherRequestCode
	// Retry is how long to wait before trying again; absent = never. On 14 and
	// 15 it is not on the wire and absent means nothing (§6.2).
	Retry  Optional[time.Duration]
	Reason string
	// Redirect is where to go instead, if Code is [Redirected]; 18 and later.
	Redirect Redirect
}

// Redirect says where else a track or namespace is.
type Redirect struct {
	URI   string
	Track Track
}

// Append appends the framed message; nothing on 14, where updates are not
// answered, if it is for one.
func (m RequestError) Append(b []byte, d Dialect) []byte {
	v, enc := d.Version, d.Version.Encoding()
	t, ok := m.For.errorType(v)
	if !ok {
		return b
	}
	b, start := openMessage(b, d, t)
	b = d.appendAnswerID(b, m.RequestID)
	code := m.Code.number(v, m.For, m.Number)
	b = enc.AppendVarint(b, code)
	if v >= Draft16 {
		b = enc.AppendVarint(b, m.retry())
	}
	b = enc.AppendString(b, m.Reason)
	if v >= Draft18 && code == redirectNumber {
		b = enc.AppendString(b, m.Redirect.URI)
		b = m.Redirect.Track.append(b, enc)
	}
	return closeMessage(b, start)
}

// retry is the retry interval on the wire: 0 for never, else one more than the
// milliseconds to wait.
func (m RequestError) retry() uint64 {
	if !m.Retry.OK {
		return 0
	}
	return millis(m.Retry.V) + 1
}

// errorType returns the message that refuses a request.
func (request Request) errorType(v Version) (t Type, ok bool) {
	if v >= Draft15 {
		return typeRequestError, true
	}
	switch request {
	case ForSubscribe:
		return typeRequestError, true
	case ForFetch:
		return typeFetchErr14, true
	case ForPublish:
		return typePublishErr14, true
	case ForPublishNamespace:
		return typePublishNamespaceErr14, true
	case ForSubscribeNamespace:
		return typeSubscribeNsErr14, true
	case ForTrackStatus:
		return typeTrackStatusErr14, true
	default:
		return 0, false
	}
}

func errorFor(request Request) func(*reader) Message {
	return func(r *reader) Message {
		v := r.d.Version
		m := RequestError{For: request, RequestID: r.answerID()}
		code := r.Varint()
		if m.Code = requestCode(code, v, request); m.Code == OtherRequestCode {
			m.Number = code
		}
		if v >= Draft16 {
			m.Retry = r.retry()
		}
		m.Reason = r.String(MaxReason)
		if v >= Draft18 && code == redirectNumber {
			m.Redirect = Redirect{URI: r.String(MaxURI), Track: r.track()}
		}
		return m
	}
}

func (r *reader) retry() (o Optional[time.Duration]) {
	if n := r.Varint(); n > 0 {
		return Some(duration(n - 1))
	}
	return o
}
