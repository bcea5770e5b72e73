package relay

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/moqmesh/moqmesh/internal/config"
	"github.com/moqmesh/moqmesh/relay/conf"
)

// A52: each form of address is served on the addresses it names, for UDP and TCP, and
// the log has what was bound in the end.
func TestA52FormsOfListenAddresses(t *testing.T) {
	const v4, v6 = "127.0.0.1", "::1"
	for _, tc := range []struct {
		bind string
		at   []string // where clients find it
	}{
		{"[::]:0", []string{v4, v6}},
		{":0", []string{v4, v6}},
		{"0.0.0.0:0", []string{v4}},
		{"127.0.0.1:0", []string{v4}},
		{"[::1]:0", []string{v6}},
		{"localhost:0", []string{v4}},
	} {
		t.Run(tc.bind, func(t *testing.T) {
			if strings.Contains(tc.bind, "[") && !hasIPv6() {
				t.Skip("this machine has no IPv6")
			}
			n := start(t, func(c *conf.Relay) {
				c.Listen.Bind, c.Web.HTTP.Listen = config.HostPort(tc.bind), config.HostPort(tc.bind)
			})
			for kind, scheme := range map[string]string{"quic": "moqt", "http": "ws"} {
				addr := n.Addrs()[kind].String()
				_, port, _ := net.SplitHostPort(addr)
				if port == "0" {
					t.Errorf("%s: bound to %s", kind, addr)
				}
				n.logged(t, fmt.Sprintf("msg=listening addr=%s kind=%s", addr, kind))
				for _, host := range tc.at {
					if host == v6 && !hasIPv6() {
						continue
					}
					dial(t, scheme+"://"+net.JoinHostPort(host, port)+"/").leave()
				}
			}
		})
	}
}

func hasIPv6() bool {
	ln, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		return false
	}
	ln.Close()
	return true
}

// A52: an address that cannot be bound is named with its setting, and everything
// that was bound is let go.
func TestA52AddressesThatCannotBeBound(t *testing.T) {
	const elsewhere = "192.0.2.1:0" // TEST-NET-1: of no machine
	for key, wrong := range map[string]edit{
		"listen.bind":     func(c *conf.Relay) { c.Listen.Bind = elsewhere },
		"web.http.listen": func(c *conf.Relay) { c.Web.HTTP.Listen = elsewhere },
		"internal.listen": func(c *conf.Relay) { c.Internal.Listen = elsewhere },
	} {
		cfg := testConfig()
		wrong(&cfg)
		r, err := New(cfg, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Listen(context.Background()); err == nil || !strings.HasPrefix(err.Error(), key+": ") || !strings.Contains(err.Error(), "192.0.2.1") {
			t.Errorf("%s: Listen = %v, want an error that names the setting and the address", key, err)
		}
	}
}

// A52: without IPv6 the error says what to write instead.
func TestA52NoIPv6(t *testing.T) {
	none := &net.OpError{Op: "listen", Err: os.NewSyscallError("socket", syscall.EAFNOSUPPORT)}
	for addr, want := range map[string]string{"[::]:443": "0.0.0.0:443", "[::1]:0": "0.0.0.0:0"} {
		if err := bindError("listen.bind", addr, none); !strings.Contains(err.Error(), "no IPv6") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want a hint at %s", addr, err, want)
		}
	}
	busy := &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	if err := bindError("listen.bind", "[::]:443", busy); strings.Contains(err.Error(), "IPv6") {
		t.Errorf("a port in use: %v", err)
	}
}
