package conf

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/moqmesh/moqmesh/internal/config"
)

// Cluster is the relay's place among other relays.
type Cluster struct {
	// ID nil means a random one at each start. From 2^53 on, old browser
	// clients refuse it.
	ID      *uint64 `key:"id" help:"this relay's hop id, 1 to 2^62-1; default: random at each start"`
	MaxHops int     `key:"max_hops" help:"longest hop list accepted and passed on, 1 to 32"`
	// Linger covers a publisher that vanishes without taking its leave.
	Linger time.Duration `key:"linger" help:"how long a broadcast stays announced after its last publisher was lost; 0 = not at all"`

	Connect    Peers  `key:"connect" reload:"live" help:"relays to dial: full URLs, \"?cost=N\" prices the link; in the file also {url, cost, egress, token, id}"`
	ConnectAPI string `key:"connect_api" secret:"url" help:"URL or file of a JSON array of relays to dial, followed while running"`
	// Node is announced and logged, so it must never hold a token.
	Node          string         `key:"node" secret:"url" help:"this relay's own URL, as others reach it"`
	Mesh          Mesh           `key:"mesh" help:"find and dial other relays through the ones connected; needs node"`
	Token         string         `key:"token" help:"file of the token for dials whose URL has none"`
	Tier          string         `key:"tier" help:"metrics tier of traffic between relays"`
	InternalPeers []AddressRange `key:"internal_peers" flag:"internal-peer" reload:"live" help:"addresses or CIDR ranges whose sessions are peers without any credential"`
}

// Mesh turns gossip discovery on. The released form gives the node's URL
// instead of true.
type Mesh struct {
	On   bool
	Node string // from the released form only, "" otherwise
}

// SetConfig takes true, false or the URL of the released form.
func (m *Mesh) SetConfig(v any) error {
	switch v := v.(type) {
	case bool:
		*m = Mesh{On: v}
	case string:
		*m = Mesh{On: v != "false" && v != "", Node: v}
		if v == "true" || v == "false" {
			m.Node = ""
		}
	default:
		return fmt.Errorf("want %s", m.Form())
	}
	return nil
}

// Form says what is accepted.
func (m *Mesh) Form() string { return "true or false" }

// String gives the value as TOML.
func (m *Mesh) String() string {
	if m.Node != "" {
		return fmt.Sprintf("%q", config.RedactURL(m.Node))
	}
	return fmt.Sprint(m.On)
}

// IsBoolFlag lets the flag stand without a value.
func (m *Mesh) IsBoolFlag() bool { return true }

// AddressRange is an IP address or a CIDR range.
type AddressRange struct{ netip.Prefix }

// SetConfig takes the written form.
func (a *AddressRange) SetConfig(v any) error {
	s, _ := v.(string)
	if p, err := netip.ParsePrefix(s); err == nil {
		a.Prefix = p.Masked()
		return nil
	}
	addr, err := netip.ParseAddr(s)
	if err != nil || addr.Zone() != "" {
		return fmt.Errorf("found %q, want %s", s, a.Form())
	}
	a.Prefix = netip.PrefixFrom(addr, addr.BitLen())
	return nil
}

// Form says what is accepted.
func (a *AddressRange) Form() string { return "an IP address or a range such as 10.0.0.0/8" }

// String gives the value as TOML.
func (a *AddressRange) String() string { return fmt.Sprintf("%q", a.Prefix.String()) }
