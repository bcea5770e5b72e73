// Package moq is the live model that relays and clients share: an [Origin] holds
// broadcasts by path, a [Broadcast] holds tracks, a [Track] is a sequence of
// groups and a [Group] is an append-only sequence of frames.
//
// Each of them has a writing and a reading side. Writers ([TrackWriter],
// [GroupWriter]) append; readers ([Subscription], [GroupReader]) hold a cursor
// into the one shared copy, so a viewer costs a cursor and a slow viewer costs
// nobody else anything: what it missed ages out of the track and its cursor
// skips on.
//
// Tracks that live elsewhere are pulled on demand through a [Source]: the first
// subscriber opens the track, later ones share it, and [Demand] tells the source
// what all of them together want.
//
// The package knows no socket, no clock and no goroutine. What ages by the wall
// clock does so when the owner calls [Cache.Advance]. All types are safe for
// concurrent use; no method blocks except those that take a context.
package moq
