package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/moqmesh/moqmesh/internal/demo"
	"github.com/moqmesh/moqmesh/token"
)

// demoRelay is one relay of the demo, and the one that it pulls from.
type demoRelay struct {
	name             string
	from             string // the relay that it dials; "" = none
	cost             int    // of pulling from there
	public, internal string // addresses
}

// demoRelays are two regions with an origin and an edge each. What crosses the
// ocean is dear.
func demoRelays() []*demoRelay {
	return []*demoRelay{
		{name: "eu-origin"},
		{name: "eu-edge", from: "eu-origin", cost: 1},
		{name: "us-origin", from: "eu-origin", cost: 10},
		{name: "us-edge", from: "us-origin", cost: 1},
	}
}

// demoRelayConfig is a relay's configuration file.
const demoRelayConfig = `[listen]
bind = %q
tls.generate = ["localhost", "127.0.0.1"]

[web.http]
listen = %q

[internal]
listen = %q

[auth]
key = %q
public = "**"
`

// demoLinkConfig is the part of it that links relays.
const demoLinkConfig = `
[cluster]
connect = ["http://%s/?cost=%d"]
token = %q
`

// layOut finds addresses for the relays and writes their files.
func (d *demoRun) layOut() error {
	key, jwt := filepath.Join(d.dir, "relays.jwk"), filepath.Join(d.dir, "relays.jwt")
	if err := d.writeToken(key, jwt); err != nil {
		return err
	}
	at := make(map[string]string)
	for _, r := range d.relays {
		var err error
		if r.public, r.internal, err = demo.FreeAddrs(); err != nil {
			return err
		}
		at[r.name] = r.public
		text := fmt.Sprintf(demoRelayConfig, r.public, r.public, r.internal, key)
		if r.from != "" {
			text += fmt.Sprintf(demoLinkConfig, at[r.from], r.cost, jwt)
		}
		if err := d.write(d.relayFile(r), text); err != nil {
			return err
		}
	}
	return nil
}

// writeToken makes the token by which the relays know each other, and its key.
func (d *demoRun) writeToken(keyFile, tokenFile string) error {
	key, err := token.GenerateKey("ES256", "relays", nil)
	if err != nil {
		return err
	}
	all, err := token.ParsePattern("**")
	if err != nil {
		return err
	}
	both := token.Patterns{all}
	signed, err := key.Sign(token.Claims{
		Scope: token.Scope{Publish: both, Subscribe: both}, Cluster: true, Expires: time.Now().AddDate(0, 0, 7),
	})
	if err != nil {
		return err
	}
	if err := d.keep(keyFile, key.JSON()); err != nil {
		return err
	}
	return d.keep(tokenFile, []byte(signed))
}
