// Package session runs moq-lite over a [Conn]: it exchanges setups, serves what
// an [moq.Origin] holds to the peer, and announces what the peer offers into it.
//
// A session is symmetric: both sides may publish and subscribe at once, within
// what [Access] grants the peer. [Handshake] settles the version and the setups
// and returns the peer's wishes; the caller authorises them and calls
// [Session.Run], which blocks until the session ends and leaves no goroutine.
//
// The sending side of all of a session's subscriptions belongs to one goroutine
// (see sender): it pulls from the shared groups and never waits for this peer's
// credit, so that a slow peer costs nobody else anything.
package session
