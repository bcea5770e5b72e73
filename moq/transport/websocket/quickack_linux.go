package websocket

import (
	"crypto/tls"
	"net"
	"syscall"
)

// quickAck makes the kernel acknowledge what was just read at once. Peers that
// write small messages under Nagle's algorithm, the Rust client among them, hold
// the next one back until then: with delayed acknowledgements that is 40 ms.
func quickAck(c net.Conn) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	t, ok := c.(*net.TCPConn)
	if !ok {
		return
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1)
	})
}
