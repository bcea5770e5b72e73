package peers

import "time"

// Waits between two dials of one peer, before jitter.
const (
	FirstWait = time.Second
	LastWait  = 10 * time.Second
)

// Stable is how long a session must have lived for the peer to count as reachable again.
const Stable = 10 * time.Second

// Backoff spaces the dials of one peer. It never gives up. The zero value is ready.
type Backoff struct{ next time.Duration }

// Wait is how long to wait before the next dial: FirstWait doubling to LastWait, times a factor from 0.5 to 1 that
// random, from 0 to 1, picks. lived is how long the session lasted, 0 if there was none: only Stable starts anew,
// so that a peer which accepts and closes is not dialled once a second for ever.
func (b *Backoff) Wait(lived time.Duration, random float64) time.Duration {
	if b.next == 0 || lived >= Stable {
		b.next = FirstWait
	}
	wait := b.next
	b.next = min(2*b.next, LastWait)
	return time.Duration(float64(wait) * (0.5 + random/2))
}
