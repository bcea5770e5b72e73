package relay

import (
	"errors"

	"github.com/moqmesh/moqmesh/internal/certs"
	"github.com/moqmesh/moqmesh/relay/conf"
)

// The settings of TLS in the words of package certs.

func quicCerts(c conf.ListenTLS) certs.Config {
	return certs.Config{Certs: c.Cert, Keys: c.Key, Generate: c.Generate, Roots: c.Root}
}

func webCerts(c conf.WebHTTPS) certs.Config {
	return certs.Config{Certs: c.Cert, Keys: c.Key, Roots: c.Root, Web: true}
}

func dialCerts(c conf.ConnectTLS) certs.ClientConfig {
	return certs.ClientConfig{
		Roots: c.Root, SystemRoots: c.SystemRoots, Fingerprints: c.Fingerprint,
		Cert: c.Cert, Key: c.Key, Insecure: c.Insecure, HostName: c.HostName,
	}
}

// makeCerts prepares the certificates of everything that listens or dials.
func (r *Relay) makeCerts(cfg conf.Relay) (err error) {
	var errs []error
	if cfg.Listen.Bind != "" {
		c := quicCerts(cfg.Listen.TLS)
		c.Log = r.log
		r.certs, err = certs.New(c)
		errs = append(errs, err)
	}
	if cfg.Web.HTTPS.Listen != "" {
		c := webCerts(cfg.Web.HTTPS)
		c.Log = r.log
		r.webCerts, err = certs.New(c)
		errs = append(errs, err)
	}
	c := dialCerts(cfg.Connect.TLS)
	c.Log = r.log
	r.dials, err = certs.NewClient(c)
	return errors.Join(append(errs, err)...)
}
