//go:build !linux

package bench

import "net"

// listenCoalesced opens a socket on any port.
func listenCoalesced(network string) (net.PacketConn, error) { return net.ListenPacket(network, ":0") }
