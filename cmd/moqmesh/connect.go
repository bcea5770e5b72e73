package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/moqmesh/moqmesh/internal/certs"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// connectAbout is what the help of every command that dials says of it.
const connectAbout = `
URL is the relay: https:// (WebTransport), moqt:// (raw QUIC), wss:// or ws://
(WebSocket), or http:// (trusts the certificate whose fingerprint it is told
there). Its path is where names begin. It may come from --connect or MOQ_CONNECT
instead, and a token from MOQ_JWT, where other users of the machine cannot see it.
`

// cacheBytes bounds what a command keeps in memory beyond the newest groups.
const cacheBytes = 64 << 20

// connection is how a command reaches the relay.
type connection struct {
	flags     *flagSet
	url       string
	jwt       string
	protocols []string
	tls       certs.ClientConfig
	verbose   bool
}

// addConnection adds the flags of a connection to a command's.
func addConnection(f *flagSet) *connection {
	c := &connection{flags: f}
	f.StringVar(&c.url, "connect", "", "`URL` of the relay, instead of the argument (MOQ_CONNECT)")
	f.StringVar(&c.jwt, "jwt", "", "`TOKEN` to present (MOQ_JWT)")
	f.Var(texts{&c.protocols, ","}, "protocol", "offer only this `VERSION`, such as moq-lite-05; repeat or separate by commas")
	f.Var(texts{&c.tls.Roots, ""}, "tls-root", "PEM `FILE` of authorities to trust; repeat for several")
	f.Var(texts{&c.tls.Fingerprints, ","}, "tls-fingerprint", "trust only the certificate of this SHA-256 in `HEX`; repeat for several")
	f.BoolVar(&c.tls.Insecure, "tls-insecure", false, "trust every certificate")
	f.StringVar(&c.tls.Cert, "tls-cert", "", "PEM `FILE` of the client certificate")
	f.StringVar(&c.tls.Key, "tls-key", "", "PEM `FILE` of its key")
	f.StringVar(&c.tls.HostName, "tls-host-name", "", "`NAME` to send and verify instead of the URL's host")
	f.BoolVar(&c.verbose, "verbose", false, "say on standard error what happens")
	return c
}

// take removes the URL from the front of a command's arguments, if it is there.
func (c *connection) take(args []string) (rest []string, err error) {
	switch {
	case len(args) > 0 && strings.Contains(args[0], "://"):
		if c.url != "" {
			return nil, c.flags.wrong("a URL is given twice: as an argument and by --connect")
		}
		c.url, args = args[0], args[1:]
	case c.url == "":
		c.url = os.Getenv("MOQ_CONNECT")
	}
	if c.url == "" {
		return nil, c.flags.wrong("no URL of a relay")
	}
	return args, nil
}

// client returns the URL to dial, token included, and the rest of what a dial needs.
func (c *connection) client(ctx context.Context, role lite.Role, con *console) (string, client.Config, error) {
	target, err := c.target()
	if err != nil {
		return "", client.Config{}, err
	}
	cfg := client.Config{
		Origin: moq.NewOrigin(session.RandomID(), moq.NewCache(cacheBytes)),
		Role:   role,
		Log:    con.log(c.verbose),
	}
	for _, name := range c.protocols {
		v, err := lite.ParseVersion(name)
		if err != nil {
			return "", cfg, c.flags.wrong("--protocol: %w", err)
		}
		cfg.Versions = append(cfg.Versions, v)
	}
	cfg.Dial, err = c.dial(ctx)
	return target, cfg, err
}

// dial says whom to trust.
func (c *connection) dial(ctx context.Context) (d transport.DialConfig, err error) {
	if d.TLS, err = certs.ClientTLS(ctx, c.tls); err != nil {
		return d, fmt.Errorf("TLS: %w", err)
	}
	d.Pin = func(fingerprint string) *tls.Config {
		pinned := certs.ClientConfig{Fingerprints: []string{fingerprint}, Cert: c.tls.Cert, Key: c.tls.Key}
		cfg, err := certs.ClientTLS(ctx, pinned)
		if err != nil {
			return &tls.Config{VerifyConnection: func(tls.ConnectionState) error { return err }}
		}
		return cfg
	}
	return d, nil
}

// target is the URL with the token in it. Its errors show neither.
func (c *connection) target() (string, error) {
	u, err := url.Parse(c.url)
	if err != nil || u.Host == "" {
		return "", c.flags.wrong("the relay's address is not a URL with a host")
	}
	jwt := c.jwt
	if jwt == "" && !u.Query().Has("jwt") {
		jwt = os.Getenv("MOQ_JWT")
	}
	if jwt != "" {
		q := u.Query()
		q.Set("jwt", jwt)
		u.RawQuery = q.Encode()
	}
	return u.String(), nil
}
