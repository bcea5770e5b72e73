package cluster

import "sync/atomic"

// Counters count since the start.
type Counters struct {
	Dials      atomic.Uint64 // attempts to reach a peer
	Failures   atomic.Uint64 // of these, and of sessions that ended with an error
	Rejections atomic.Uint64 // failures because the peer turned us away for what we are
	Closes     atomic.Uint64 // sessions that ended without an error

	Replacements atomic.Uint64 // links dialled anew because their settings changed
	Migrations   atomic.Uint64 // links that moved where their peer sent them
	Overstays    atomic.Uint64 // replaced sessions that had to be closed by force
	Reprices     atomic.Uint64 // prices changed in place

	AdvertsInvalid atomic.Uint64 // adverts that name no peer
	AdvertsFull    atomic.Uint64 // adverts beyond peers.MaxAdverts
	AdvertsForged  atomic.Uint64 // adverts from sessions that are no peers
	Twins          atomic.Uint64 // meetings of two relays with one hop id
	Alarms         atomic.Uint64 // minutes without any link
}
