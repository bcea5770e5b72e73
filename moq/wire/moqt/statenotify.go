package moqt

// PublishStateNotify tells a subscriber of a change at the publisher,
// PUBLISH_STATE_NOTIFY (§6.2); 20 and later. Peers end a subscription that gets
// one (§14).
type PublishStateNotify struct {
	Params Params // largest, forward and filter
}

// Append appends the framed message.
func (m PublishStateNotify) Append(b []byte, d Dialect) []byte {
	b, start := openMessage(b, d, typePublishStateNotify)
	return closeMessage(d.appendParams(b, m.Params), start)
}

func decodePublishStateNotify(r *reader) Message { return PublishStateNotify{r.params(nil)} }
