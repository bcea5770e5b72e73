package transport

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"sync"
	"time"
)

// lookup asks for the addresses of a host; network is "ip4" or "ip6".
type lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

// resolve lists the addresses of the URL's host in the order to try them.
func resolve(ctx context.Context, u *url.URL, delay time.Duration) ([]*net.UDPAddr, error) {
	port := u.Port()
	if port == "" {
		port = "443"
	}
	n, err := net.DefaultResolver.LookupPort(ctx, "udp", port)
	if err != nil {
		return nil, err
	}
	v6, v4, err := families(ctx, u.Hostname(), delay, net.DefaultResolver.LookupNetIP)
	if err != nil {
		return nil, err
	}
	return interleave(v6, v4, n), nil
}

// families asks for both families at once. IPv4 that is known first waits for
// IPv6 no longer than delay; IPv6 waits for IPv4, which is its fallback.
func families(ctx context.Context, host string, delay time.Duration, ask lookup) (v6, v4 []netip.Addr, err error) {
	type answer struct {
		addrs []netip.Addr
		err   error
	}
	var asking sync.WaitGroup
	defer asking.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	begin := func(network string) <-chan answer {
		c := make(chan answer, 1) // it may come too late
		asking.Go(func() {
			addrs, err := ask(ctx, network, host)
			c <- answer{addrs, err}
		})
		return c
	}
	c6, c4 := begin("ip6"), begin("ip4")
	var a6, a4 answer
	var late <-chan time.Time
	for c6 != nil || c4 != nil {
		select {
		case a6 = <-c6:
			c6 = nil
		case a4 = <-c4:
			c4 = nil
			if len(a4.addrs) > 0 {
				timer := time.NewTimer(delay)
				defer timer.Stop()
				late = timer.C
			}
		case <-late:
			c6 = nil
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
	if len(a6.addrs)+len(a4.addrs) == 0 {
		return nil, nil, a4.err
	}
	return a6.addrs, a4.addrs, nil
}

// interleave takes the families in turn, IPv6 first (RFC 8305, section 4).
func interleave(v6, v4 []netip.Addr, port int) (out []*net.UDPAddr) {
	for i := range max(len(v6), len(v4)) {
		for _, family := range [][]netip.Addr{v6, v4} {
			if i < len(family) {
				out = append(out, net.UDPAddrFromAddrPort(netip.AddrPortFrom(family[i].Unmap(), uint16(port))))
			}
		}
	}
	return out
}
