package lite

// SubscribeOK accepts a subscription, SUBSCRIBE_OK (§8.3, §18.1). Up to 04,
// where it is required and may repeat; 01 carries the priority alone, 02 nothing.
type SubscribeOK struct {
	Preferences // what the publisher serves; peers echo the priority and send the rest zero
}

// Append appends the framed message.
func (m SubscribeOK) Append(b []byte, v Version) []byte {
	b = AnswerOK.appendType(b, v)
	start := len(b)
	if v != V02 {
		b = m.Preferences.append(b, v)
	}
	return v.Encoding().PrefixLength(b, start)
}

// DecodeSubscribeOK decodes a body.
func DecodeSubscribeOK(body []byte, v Version) (m SubscribeOK, err error) {
	r := v.reader(body)
	if v != V02 {
		m.Preferences = readPreferences(&r, v)
	}
	return m, finish(&r, "SUBSCRIBE_OK")
}
