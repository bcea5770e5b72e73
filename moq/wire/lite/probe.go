package lite

import "time"

// Probe reports what a publisher measures of the path to the opener of a probe
// stream, PROBE (§11). 03 and later.
type Probe struct {
	Bitrate uint64        // bit/s; 0 = unknown, so a measured 0 is sent as 1
	RTT     time.Duration // in whole milliseconds; 0 = unknown, so less than 1 is sent as 1; 04 and later
}

// Append appends the framed message.
func (m Probe) Append(b []byte, v Version) []byte {
	enc := v.Encoding()
	start := len(b)
	b = enc.AppendVarint(b, m.Bitrate)
	if v.hasRTT() {
		rtt := m.RTT
		if rtt > 0 {
			rtt = max(rtt, time.Millisecond)
		}
		b = appendMillis(b, v, rtt)
	}
	return enc.PrefixLength(b, start)
}

// DecodeProbe decodes a body.
func DecodeProbe(body []byte, v Version) (m Probe, err error) {
	r := v.reader(body)
	m.Bitrate = r.Varint()
	if v.hasRTT() {
		m.RTT = readMillis(&r)
	}
	return m, finish(&r, "PROBE")
}

func (v Version) hasRTT() bool { return v >= V04 }
