package transport

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestFamilies: IPv4 alone begins only when IPv6 has had its time to answer.
func TestFamilies(t *testing.T) {
	const delay, never = 50 * time.Millisecond, time.Hour
	six, four := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("192.0.2.1")
	none := errors.New("no such host")
	for _, tt := range []struct {
		name   string
		v6, v4 time.Duration // until the answer; negative: there is none after as long
		want   []netip.Addr
		after  time.Duration
	}{
		{"both at once", 0, 0, []netip.Addr{six, four}, 0},
		{"IPv6 a little later", 30 * time.Millisecond, 0, []netip.Addr{six, four}, 30 * time.Millisecond},
		{"IPv6 too late", never, 10 * time.Millisecond, []netip.Addr{four}, 60 * time.Millisecond},
		{"IPv6 waits for its fallback", 0, time.Second, []netip.Addr{six, four}, time.Second},
		{"no IPv6", -20 * time.Millisecond, 0, []netip.Addr{four}, 20 * time.Millisecond},
		{"no IPv4", 0, -1, []netip.Addr{six}, 1},
		{"neither", -1, -2, nil, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			ask := func(ctx context.Context, network, host string) ([]netip.Addr, error) {
				wait, addr := tt.v6, six
				if network == "ip4" {
					wait, addr = tt.v4, four
				}
				select {
				case <-time.After(max(wait, -wait)):
				case <-ctx.Done():
					return nil, ctx.Err()
				}
				if wait < 0 {
					return nil, none
				}
				return []netip.Addr{addr}, nil
			}
			v6, v4, err := families(t.Context(), "relay.example", delay, ask)
			if diff := cmp.Diff(tt.want, append(v6, v4...), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" || (err == nil) != (tt.want != nil) {
				t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
			}
			if got := time.Since(began); got != tt.after {
				t.Errorf("%s: after %v, want %v", tt.name, got, tt.after)
			}
		})
	}
}
