// Package relay is one relay: it takes sessions over QUIC, WebTransport and
// WebSocket, asks package auth what each may do, and lets them publish into and
// read from one name space.
//
// [New] checks a configuration, [Relay.Listen] opens everything or nothing, and
// [Relay.Run] serves until its context ends, then drains. A running relay takes
// a changed configuration through [Relay.Reload].
package relay
