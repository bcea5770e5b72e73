package qmux

// sendCredit counts what we may send: limit is absolute, as in QUIC.
type sendCredit struct {
	limit, used uint64
}

// room is how many bytes may be taken.
func (s *sendCredit) room() uint64 { return s.limit - s.used }

// raise lifts the limit; a lower one than before means nothing.
func (s *sendCredit) raise(limit uint64) { s.limit = max(s.limit, limit) }

// recvWindow counts what the peer may send.
type recvWindow struct {
	limit    uint64 // granted, counted from the start
	used     uint64 // received
	released uint64 // read or thrown away, not yet granted again
}

// take counts n bytes received; false if the peer had no credit for them.
func (w *recvWindow) take(n uint64) bool {
	if n > w.limit-w.used {
		return false
	}
	w.used += n
	return true
}

func (w *recvWindow) release(n uint64) { w.released += n }

// due says that the peer should hear of a new limit: rarely enough to cost
// little, early enough not to stall it (§2.6.4).
func (w *recvWindow) due() bool { return w.released > 0 && w.used+2*w.released > w.limit }

// grant makes what was released available again and returns the new limit.
func (w *recvWindow) grant() uint64 {
	w.limit += w.released
	w.released = 0
	return w.limit
}
