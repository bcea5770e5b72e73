// Package transport makes the connections that sessions run on: raw QUIC and
// WebTransport on one UDP port ([Listener]), and dialled by URL ([Dial]), with
// WebSocket as a fallback (package websocket).
package transport
