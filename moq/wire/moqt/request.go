package moqt

// Request is the kind of request that a [RequestOK] or [RequestError] answers.
// Older drafts have messages of their own for most of them.
type Request uint8

// The kinds of request.
const (
	ForAny Request = iota // a [RequestUpdate], or not told by the message
	ForSubscribe
	ForFetch
	ForPublish
	ForPublishNamespace
	ForSubscribeNamespace // and [SubscribeTracks]
	ForTrackStatus
)
