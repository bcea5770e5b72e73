package conf

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/internal/config"
)

// Peer is one relay to dial. Bare strings in a list are a Peer with only a URL.
type Peer struct {
	URL    string  `json:"url"`              // may hold ?cost= and ?jwt=
	Cost   *uint64 `json:"cost,omitempty"`   // price of pulling from it; nil = not said here
	Egress *uint64 `json:"egress,omitempty"` // price that we declare to it; nil = Cost
	Token  string  `json:"token,omitempty"`  // credential; "" = none here
	ID     *uint64 `json:"id,omitempty"`     // its hop id where the wire carries none; nil = unknown
}

// Peers is the list of relays to dial.
type Peers []Peer

// SetConfig takes URLs, and from a file also tables.
func (ps *Peers) SetConfig(v any) error {
	*ps = Peers{}
	elems, ok := v.([]any)
	if !ok {
		elems = []any{v}
	}
	for i, e := range elems {
		if e == "" {
			continue
		}
		p, err := newPeer(e)
		if err != nil {
			return fmt.Errorf("entry %d: %w", i+1, err)
		}
		*ps = append(*ps, p)
	}
	return nil
}

// Form says what an entry may be.
func (ps *Peers) Form() string { return "a list, each a URL or {url, cost, egress, token, id}" }

// String gives the list as TOML, tokens left out.
func (ps *Peers) String() string {
	parts := make([]string, len(*ps))
	for i, p := range *ps {
		parts[i] = fmt.Sprintf("%q", config.RedactURL(p.URL))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func newPeer(v any) (Peer, error) {
	switch v := v.(type) {
	case string:
		return Peer{URL: v}, nil
	case map[string]any:
		return peerFromTable(v)
	}
	return Peer{}, fmt.Errorf("want a URL or a table with a url")
}

// peerFromTable never repeats a value: any of them may be a credential.
func peerFromTable(t map[string]any) (p Peer, err error) {
	for _, name := range sortedNames(t) {
		switch name {
		case "url":
			err = setText(&p.URL, t[name])
		case "token":
			err = setText(&p.Token, t[name])
		case "cost":
			p.Cost, err = wholeNumber(t[name])
		case "egress":
			p.Egress, err = wholeNumber(t[name])
		case "id":
			p.ID, err = wholeNumber(t[name])
		default:
			err = fmt.Errorf("unknown field, want url, cost, egress, token or id")
		}
		if err != nil {
			return p, fmt.Errorf("%s: %w", name, err)
		}
	}
	if p.URL == "" {
		return p, fmt.Errorf("url: missing")
	}
	return p, nil
}

func setText(dst *string, v any) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("want text")
	}
	*dst = s
	return nil
}

func wholeNumber(v any) (*uint64, error) {
	n, ok := v.(int64)
	if !ok || n < 0 {
		return nil, fmt.Errorf("want a whole number, 0 or more")
	}
	u := uint64(n)
	return &u, nil
}

// Entry is the peer as package peers has it. bare: its URL is only a host, which is
// taken as https. Errors do not repeat the URL.
func (p Peer) Entry() (e peers.Entry, bare bool, err error) {
	return peers.Object{URL: p.URL, Cost: p.Cost, Egress: p.Egress, Token: p.Token, ID: p.ID}.Entry()
}

// Entries are the relays to dial, each once, and the names of those that are given as
// a bare host. The error tells all that is wrong.
func (c Cluster) Entries() (list []peers.Entry, bare []string, err error) {
	var errs []error
	for i, p := range c.Connect {
		e, isBare, err := p.Entry()
		if err != nil {
			errs = append(errs, fmt.Errorf("entry %d: %w", i+1, err))
			continue
		}
		if isBare {
			bare = append(bare, e.String())
		}
		list = append(list, e)
	}
	if len(errs) > 0 {
		return nil, nil, errors.Join(errs...)
	}
	var own peers.Key
	if node, err := peers.ParseNode(c.NodeURL()); err == nil {
		own = node.Key
	}
	list, err = peers.Unique(list, own)
	return list, bare, err
}

// NodeURL is this relay's own URL, whichever way it is given; "" where it is not.
func (c Cluster) NodeURL() string { return cmp.Or(c.Node, c.Mesh.Node) }

func sortedNames[V any](t map[string]V) []string {
	names := make([]string, 0, len(t))
	for name := range t {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
