package certs

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// ClientConfig says whom a dial trusts and what it presents.
type ClientConfig struct {
	// Roots are PEM files of authorities.
	Roots []string
	// SystemRoots adds the system's authorities. Nil means only when nothing else is trusted.
	SystemRoots *bool
	// Fingerprints are the SHA-256 of the accepted leaf certificates in hex. They replace the check of chain and name.
	Fingerprints []string
	// Cert and Key are the PEM files of the client certificate: both or neither.
	Cert, Key string
	// Insecure accepts every certificate. Anybody on the way can then read and change everything.
	Insecure bool
	// HostName is sent and verified instead of the dialled host. Empty means the dialled host.
	HostName string
	// Period is the time between two checks of the files besides notifications. Zero means 30 s.
	Period time.Duration
	// Log receives what an operator acts on. Nil discards it.
	Log *slog.Logger
}

// Client is the TLS side of dialling. All methods may be called at the same time.
type Client struct {
	log   *slog.Logger
	trust *replaceable[*trust]
}

// ClientTLS is for programs that dial and end: it reads the files once.
func ClientTLS(ctx context.Context, cfg ClientConfig) (*tls.Config, error) {
	c, err := NewClient(cfg)
	if err != nil {
		return nil, err
	}
	if err := c.Load(ctx); err != nil {
		return nil, err
	}
	return c.TLS(), nil
}

// NewClient checks cfg, all of it, and returns a client that has read nothing yet.
func NewClient(cfg ClientConfig) (*Client, error) {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	first, err := newTrust(cfg)
	if err != nil {
		return nil, err
	}
	first.warn()
	return &Client{log: cfg.Log, trust: newReplaceable(first)}, nil
}

// conflicts are settings that cannot all be meant.
func (cfg ClientConfig) conflicts() error {
	var errs []error
	refuse := func(bad bool, why string) {
		if bad {
			errs = append(errs, errors.New(why))
		}
	}
	system := cfg.SystemRoots != nil && *cfg.SystemRoots
	none := cfg.SystemRoots != nil && !*cfg.SystemRoots
	roots := system || len(cfg.Roots) > 0
	pinned := len(cfg.Fingerprints) > 0
	refuse(cfg.Insecure && (roots || pinned), "insecure cannot be set together with roots, system roots or fingerprints")
	refuse(pinned && roots, "fingerprints replace roots: set one of them")
	refuse(none && !roots && !pinned && !cfg.Insecure, "nobody is trusted: system roots are off, and there are no roots and no fingerprints")
	refuse((cfg.Cert == "") != (cfg.Key == ""), "a client certificate needs both certificate and key")
	return errors.Join(errs...)
}

// Load reads the files now. At a start its error is a reason to stop; later it means that what is in use stays.
func (c *Client) Load(ctx context.Context) error { return c.trust.get().load(ctx) }

// Prepare reads what cfg names beside what is in use. commit puts it in force, for all later dials; without a call of
// it nothing has changed.
func (c *Client) Prepare(ctx context.Context, cfg ClientConfig) (commit func(), err error) {
	cfg.Log = c.log
	next, err := newTrust(cfg)
	if err != nil {
		return nil, err
	}
	if err := next.load(ctx); err != nil {
		return nil, err
	}
	return func() {
		next.warn()
		c.trust.put(next)
	}, nil
}

// Run follows the files until ctx ends and returns its cause. Run it once.
func (c *Client) Run(ctx context.Context) error { return c.trust.run(ctx) }

// TLS returns a configuration for one dial, with the roots of this moment: take a new one for every dial. protos are
// the ALPN names in order of preference. The server name is empty unless HostName is set.
func (c *Client) TLS(protos ...string) *tls.Config { return c.trust.get().tls(protos) }

// HTTPClient returns an HTTP client whose every new connection uses the certificates and roots of its moment. Behind a
// proxy they are those of now.
func (c *Client) HTTPClient() *http.Client {
	t := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		TLSClientConfig:     c.TLS(),
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		MaxIdleConnsPerHost: 2,
	}
	t.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		d := tls.Dialer{Config: c.TLS("http/1.1")}
		return d.DialContext(ctx, network, addr)
	}
	return &http.Client{Transport: t}
}
