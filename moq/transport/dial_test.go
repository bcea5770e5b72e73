package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/internal/simlink"
	"github.com/moqmesh/moqmesh/moq/session"
)

// TestInterleave: the families take turns, IPv6 first, each in the resolver's order.
func TestInterleave(t *testing.T) {
	for _, tt := range []struct{ v6, v4, want string }{
		{"", "", ""},
		{"", "10.0.0.1", "10.0.0.1"},
		{"fd00::1", "10.0.0.1 10.0.0.2", "fd00::1 10.0.0.1 10.0.0.2"},
		{"fd00::1 fd00::2 fd00::3", "10.0.0.1", "fd00::1 10.0.0.1 fd00::2 fd00::3"},
	} {
		family := func(texts string) (addrs []netip.Addr) {
			for _, text := range strings.Fields(texts) {
				addrs = append(addrs, netip.MustParseAddr(text))
			}
			return addrs
		}
		var got []string
		for _, addr := range interleave(family(tt.v6), family(tt.v4), 443) {
			got = append(got, addr.IP.String())
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("interleave(%s, %s) = %v, want %s", tt.v6, tt.v4, got, tt.want)
		}
	}
}

// TestHappyEyeballs: an address that does not answer costs no more than the head
// start it had over the next.
func TestHappyEyeballs(t *testing.T) {
	const delay = 10 * time.Millisecond
	v6, v4 := &net.UDPAddr{IP: net.ParseIP("fd00::1"), Port: 443}, &net.UDPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 443}
	for _, tt := range []struct {
		name   string
		alive  []string
		order  []*net.UDPAddr
		via    string        // who is dialled in the end
		begins time.Duration // when that dial began
	}{
		{"both alive", []string{"[fd00::1]:443", "10.0.0.1:443"}, []*net.UDPAddr{v6, v4}, "fd00::1", 0},
		{"IPv6 dead", []string{"10.0.0.1:443"}, []*net.UDPAddr{v6, v4}, "10.0.0.1", 250 * time.Millisecond},
		{"IPv4 dead", []string{"[fd00::1]:443"}, []*net.UDPAddr{v4, v6}, "fd00::1", 250 * time.Millisecond},
		{"two dead", []string{"10.0.0.1:443"}, []*net.UDPAddr{v6, {IP: net.IPv4(10, 0, 0, 9), Port: 443}, v4}, "10.0.0.1", 500 * time.Millisecond},
	} {
		for _, scheme := range schemes {
			t.Run(tt.name+"/"+scheme, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					t.Cleanup(func() { time.Sleep(5 * time.Second) })
					n := simlink.New(t, 1)
					for _, addr := range tt.alive {
						serve(t, n, addr, ListenConfig{Handshake: time.Second})
					}
					sockets := 0
					conf := from(nil)
					conf.Listen = func(network string) (net.PacketConn, error) {
						sockets++
						host := map[string]string{"udp4": "10.0.1.%d:1", "udp6": "[fd00::1:%d]:1"}[network]
						return n.Host(fmt.Sprintf(host, sockets), simlink.Line{Delay: delay}), nil
					}
					start := time.Now()
					d, err := dialAddrs(t.Context(), &url.URL{Scheme: scheme, Host: "relay.example", Path: "/"}, tt.order, conf.withDefaults())
					if err != nil {
						t.Fatal(err)
					}
					took := time.Since(start)
					d.Conn.Close(session.CodeNoError, "")
					if via := d.Conn.RemoteAddr().(*net.UDPAddr).IP.String(); via != tt.via {
						t.Errorf("connected to %s, want %s", via, tt.via)
					}
					if took < tt.begins || took > tt.begins+10*delay {
						t.Errorf("connected after %v, want a handshake after %v", took, tt.begins)
					}
				})
			})
		}
	}
}

// TestNobodyAnswers: the dial ends with its timeout, and leaves no socket open.
func TestNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := simlink.New(t, 1)
		host := n.Host("10.0.0.2:1", simlink.Line{})
		conf := from(host)
		conf.Timeout = 3 * time.Second
		start := time.Now()
		_, err := Dial(t.Context(), "moqt://10.0.0.1/?jwt=secret", conf)
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != conf.Timeout {
			t.Errorf("after %v: %v, want a timeout after %v", took, err, conf.Timeout)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows the token: %v", err)
		}
		if _, err := host.WriteTo(nil, host.LocalAddr()); !errors.Is(err, net.ErrClosed) {
			t.Errorf("the socket is still open: %v", err)
		}
	})
}

// attempt is one of a race: it takes some time and then fails or not.
type attempt struct {
	takes time.Duration
	fails bool
}

// TestRace: attempts begin one after the other, each after the delay or as soon as
// one has failed, and end when one has won.
func TestRace(t *testing.T) {
	const delay = 250 * time.Millisecond
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	for _, tt := range []struct {
		name     string
		attempts []attempt
		began    []time.Duration
		won      int // -1: none
		took     time.Duration
	}{
		{"the first is quick", []attempt{{takes: ms(100)}, {takes: ms(1)}}, []time.Duration{0}, 0, ms(100)},
		{"the second overtakes", []attempt{{takes: ms(900)}, {takes: ms(100)}, {}}, []time.Duration{0, delay}, 1, ms(350)},
		{"the first comes in after all", []attempt{{takes: ms(300)}, {takes: ms(100)}}, []time.Duration{0, delay}, 0, ms(300)},
		{"a failure starts the next", []attempt{{takes: ms(10), fails: true}, {takes: ms(10), fails: true}, {takes: ms(10)}}, []time.Duration{0, ms(10), ms(20)}, 2, ms(30)},
		{"also while another runs", []attempt{{takes: ms(900)}, {takes: ms(10), fails: true}, {takes: ms(10)}}, []time.Duration{0, delay, ms(260)}, 2, ms(270)},
		{"the delay counts from the last start", []attempt{{takes: ms(200), fails: true}, {takes: ms(900)}, {takes: ms(10)}}, []time.Duration{0, ms(200), ms(450)}, 2, ms(460)},
		{"all fail", []attempt{{takes: ms(10), fails: true}, {takes: ms(10), fails: true}}, []time.Duration{0, ms(10)}, -1, ms(20)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var mu sync.Mutex // guards began
				var began []time.Duration
				var runs []func(context.Context) (*Dialled, error)
				conns := make([]*closing, len(tt.attempts))
				for i, a := range tt.attempts {
					conns[i] = &closing{}
					runs = append(runs, func(ctx context.Context) (*Dialled, error) {
						mu.Lock()
						began = append(began, time.Since(start))
						mu.Unlock()
						select {
						case <-time.After(a.takes):
						case <-ctx.Done():
							return nil, context.Cause(ctx)
						}
						if a.fails {
							return nil, fmt.Errorf("attempt %d", i)
						}
						return &Dialled{Conn: conns[i]}, nil
					})
				}
				d, err := race(t.Context(), delay, runs...)
				took := time.Since(start)
				if diff := cmp.Diff(tt.began, began); diff != "" {
					t.Errorf("attempts began at (-want +got):\n%s", diff)
				}
				if took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				if tt.won < 0 {
					if d != nil || err == nil || !strings.Contains(err.Error(), "attempt 0") || !strings.Contains(err.Error(), "attempt 1") {
						t.Errorf("race = %v, %v, want every attempt's error", d, err)
					}
				} else if err != nil || d.Conn != conns[tt.won] {
					t.Errorf("race = %v, %v, want attempt %d", d, err, tt.won)
				}
			})
		})
	}
}

// closing is a connection that can only be closed.
type closing struct {
	session.Conn
	closed bool
}

func (c *closing) Close(session.SessionCode, string) { c.closed = true }

// TestLosersAreClosed: who connects in the moment in which another has won is let go.
func TestLosersAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conns := []*closing{{}, {}}
		both := func(i int, takes time.Duration) func(context.Context) (*Dialled, error) {
			return func(context.Context) (*Dialled, error) {
				time.Sleep(takes) // deaf to the race's end
				return &Dialled{Conn: conns[i]}, nil
			}
		}
		d, err := race(t.Context(), 10*time.Millisecond, both(0, 50*time.Millisecond), both(1, 20*time.Millisecond))
		if err != nil || d.Conn != conns[1] {
			t.Fatalf("race = %v, %v, want the second", d, err)
		}
		if !conns[0].closed || conns[1].closed {
			t.Errorf("closed: loser %v, winner %v", conns[0].closed, conns[1].closed)
		}
	})
}
