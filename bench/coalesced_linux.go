package bench

import (
	"encoding/binary"
	"fmt"
	"net"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// coalesced is a UDP socket that takes what the sender handed over in one system
// call (GSO) in one piece (UDP_GRO) and cuts it into packets itself. Without that
// the kernel cuts it, and on loopback it does so on the sender's time: the relay
// would pay for each packet of ours.
type coalesced struct {
	*net.UDPConn
	buf, oob []byte
	rest     []byte // of buf, not handed out yet
	size     int    // of the packets in rest; the last may be shorter
	control  int    // bytes of oob that hold for rest
	from     *net.UDPAddr
}

const (
	mostCoalesced = 1<<16 - 1
	controlBytes  = 128
)

// listenCoalesced opens a socket on any port, for one reader at a time.
func listenCoalesced(network string) (net.PacketConn, error) {
	conn, err := net.ListenUDP(network, nil)
	if err != nil {
		return nil, err
	}
	raw, err := conn.SyscallConn()
	if err == nil {
		controlErr := raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_UDP, unix.UDP_GRO, 1) })
		if err == nil {
			err = controlErr
		}
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("ask for coalesced packets: %w", err)
	}
	return &coalesced{UDPConn: conn, buf: make([]byte, mostCoalesced), oob: make([]byte, controlBytes)}, nil
}

// ReadBatch fills the messages that it has packets for, at least one. quic-go
// finds it by its name and calls it instead of reading the socket.
func (c *coalesced) ReadBatch(list []ipv4.Message, _ int) (n int, err error) {
	if len(c.rest) == 0 {
		if err := c.read(); err != nil {
			return 0, err
		}
	}
	for ; n < len(list) && (n == 0 || len(c.rest) > 0); n++ {
		m := &list[n]
		packet := c.rest[:min(c.size, len(c.rest))]
		c.rest = c.rest[len(packet):]
		m.N, m.NN, m.Addr = copy(m.Buffers[0], packet), copy(m.OOB, c.oob[:c.control]), c.from
	}
	return n, nil
}

// read takes the next piece from the socket.
func (c *coalesced) read() error {
	n, control, _, from, err := c.ReadMsgUDP(c.buf, c.oob)
	if err != nil {
		return err
	}
	c.rest, c.size, c.control, c.from = c.buf[:n], n, control, from
	for more := c.oob[:control]; len(more) > 0; {
		header, data, next, err := unix.ParseOneSocketControlMessage(more)
		if err != nil {
			return fmt.Errorf("read control messages: %w", err)
		}
		if header.Level == unix.SOL_UDP && header.Type == unix.UDP_GRO && len(data) >= 4 {
			if size := int(binary.NativeEndian.Uint32(data)); size > 0 {
				c.size = size
			}
		}
		more = next
	}
	return nil
}
