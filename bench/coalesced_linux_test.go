package bench

import (
	"bytes"
	"net"
	"testing"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// TestCoalesced sends packets in one system call and reads them one by one, some
// of them with a later call.
func TestCoalesced(t *testing.T) {
	pc, err := listenCoalesced("udp4")
	if err != nil {
		t.Skip("the kernel does not coalesce:", err)
	}
	defer pc.Close()
	sender, err := net.DialUDP("udp4", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: pc.LocalAddr().(*net.UDPAddr).Port})
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close()
	raw, err := sender.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_UDP, unix.UDP_SEGMENT, 1000) })
	if err != nil {
		t.Skip("the kernel does not segment:", err)
	}
	sent := bytes.Repeat([]byte("0123456789"), 350) // 1000, 1000, 1000 and 500 bytes
	if _, err := sender.Write(sent); err != nil {
		t.Fatal(err)
	}

	var sizes []int
	var got []byte
	list := make([]ipv4.Message, 3)
	for i := range list {
		list[i].Buffers, list[i].OOB = [][]byte{make([]byte, 1500)}, make([]byte, 100)
	}
	for len(got) < len(sent) {
		n, err := pc.(*coalesced).ReadBatch(list, 0)
		if err != nil || n == 0 {
			t.Fatalf("ReadBatch = %d, %v", n, err)
		}
		for _, m := range list[:n] {
			sizes = append(sizes, m.N)
			got = append(got, m.Buffers[0][:m.N]...)
			if m.Addr.String() != sender.LocalAddr().String() {
				t.Errorf("from %v, want %v", m.Addr, sender.LocalAddr())
			}
		}
	}
	if !bytes.Equal(got, sent) || len(sizes) != 4 || sizes[0] != 1000 || sizes[3] != 500 {
		t.Errorf("packets of %v bytes, the right ones: %v; want 1000, 1000, 1000, 500", sizes, bytes.Equal(got, sent))
	}

	// An empty packet is one too.
	raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_UDP, unix.UDP_SEGMENT, 0) })
	if _, err := sender.Write(nil); err != nil {
		t.Fatal(err)
	}
	if n, err := pc.(*coalesced).ReadBatch(list, 0); n != 1 || err != nil || list[0].N != 0 {
		t.Errorf("an empty packet: %d, %v, %d bytes", n, err, list[0].N)
	}
	pc.Close()
	if n, err := pc.(*coalesced).ReadBatch(list, 0); n != 0 || err == nil {
		t.Errorf("after Close: %d, %v, want an error", n, err)
	}
}
