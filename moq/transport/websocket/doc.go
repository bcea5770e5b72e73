// Package websocket carries qmux over WebSocket, for peers that QUIC does not
// reach (moq-lite wire reference §2.6.1).
//
// [Accept] upgrades an HTTP request and [Dial] makes one. Both return as soon as
// the sub-protocol is settled, with a [qmux.Conn] on which nothing moves yet
// and no goroutine running: the caller runs its Run, which also keeps the
// WebSocket alive (a ping every 5 s; the end after 30 s without any frame) and
// releases the socket. A Conn that is not wanted still needs Run, after Close.
//
// How a session's end travels: as a qmux close frame, then in the WebSocket
// close frame. There 1000 is code 0, 4000+code the other codes below 1000, 1011
// the rest; 1002 is a breach of qmux by the peer.
package websocket
