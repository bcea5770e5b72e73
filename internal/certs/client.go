package certs

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/moqmesh/moqmesh/internal/source"
	"golang.org/x/sync/errgroup"
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
	cfg   ClientConfig
	pins  pins                             // empty = check the chain
	roots *source.Source[*x509.CertPool]   // nil = the system's
	pair  *source.Source[*tls.Certificate] // nil = present none
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
	c := &Client{cfg: cfg}
	var pinErr error
	c.pins, pinErr = parsePins(cfg.Fingerprints)
	if err := errors.Join(cfg.conflicts(), pinErr); err != nil {
		return nil, err
	}
	if err := c.openRoots(); err != nil {
		return nil, err
	}
	if err := c.openPair(); err != nil {
		return nil, err
	}
	if cfg.Insecure {
		cfg.Log.Warn("TLS verification is off: dials are open to a man in the middle")
	}
	return c, nil
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

func (c *Client) openRoots() (err error) {
	if len(c.cfg.Roots) == 0 {
		return nil
	}
	base := noRoots
	if c.cfg.SystemRoots != nil && *c.cfg.SystemRoots {
		base = x509.SystemCertPool
	}
	c.roots, err = newRoots(c.cfg.Roots, base, c.cfg.Log, c.cfg.Period)
	return err
}

func (c *Client) openPair() (err error) {
	if c.cfg.Cert == "" {
		return nil
	}
	const failed = "failed to reload client certificate"
	c.pair, err = source.New(source.Config[*tls.Certificate]{
		Locations: []string{c.cfg.Cert, c.cfg.Key},
		Parse:     func(docs [][]byte) (*tls.Certificate, error) { return parsePair(docs[0], docs[1]) },
		Period:    c.cfg.Period,
		Log:       c.cfg.Log,
		Lines: source.Lines{
			Reloading: "reloading client certificate", Reloaded: "client certificate reloaded",
			Unreadable: failed, Refused: failed, Unwatched: unwatched,
		},
	})
	return err
}

// Load reads the files now. At a start its error is a reason to stop; later it means that what is in use stays.
func (c *Client) Load(ctx context.Context) error {
	var errs []error
	if c.roots != nil {
		errs = append(errs, c.roots.Load(ctx))
	}
	if c.pair != nil {
		errs = append(errs, c.pair.Load(ctx))
	}
	return errors.Join(errs...)
}

// Run follows the files until ctx ends and returns its cause. Run it once.
func (c *Client) Run(ctx context.Context) error {
	var g errgroup.Group
	if c.roots != nil {
		g.Go(func() error { return c.roots.Run(ctx) })
	}
	if c.pair != nil {
		g.Go(func() error { return c.pair.Run(ctx) })
	}
	<-ctx.Done()
	return cmp.Or(g.Wait(), context.Cause(ctx))
}

// TLS returns a configuration for one dial, with the roots of this moment: take a new one for every dial. protos are
// the ALPN names in order of preference. The server name is empty unless HostName is set.
func (c *Client) TLS(protos ...string) *tls.Config {
	cfg := &tls.Config{ServerName: c.cfg.HostName, NextProtos: protos, MinVersion: tls.VersionTLS12}
	switch {
	case c.cfg.Insecure:
		cfg.InsecureSkipVerify = true
	case len(c.pins) > 0:
		cfg.InsecureSkipVerify = true // the pins decide instead
		cfg.VerifyConnection = c.pins.verify
	case c.roots != nil:
		cfg.RootCAs = current(c.roots)
	}
	if c.pair != nil {
		cfg.GetClientCertificate = c.clientCertificate
	}
	return cfg
}

func (c *Client) clientCertificate(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	if pair := c.pair.Get(); pair != nil {
		return pair, nil
	}
	return nil, errors.New("client certificate not loaded")
}

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
