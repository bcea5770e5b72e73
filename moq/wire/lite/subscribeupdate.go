package lite

// SubscribeUpdate replaces all preferences of a subscription, SUBSCRIBE_UPDATE
// (§8.2). The subscriber sends it on the subscribe stream. 03 and later.
type SubscribeUpdate struct {
	Preferences
}

// Append appends the framed message.
func (m SubscribeUpdate) Append(b []byte, v Version) []byte {
	start := len(b)
	b = m.Preferences.append(b, v)
	return v.Encoding().PrefixLength(b, start)
}

// DecodeSubscribeUpdate decodes a body.
func DecodeSubscribeUpdate(body []byte, v Version) (m SubscribeUpdate, err error) {
	r := v.reader(body)
	m.Preferences = readPreferences(&r, v)
	return m, finish(&r, "SUBSCRIBE_UPDATE")
}
