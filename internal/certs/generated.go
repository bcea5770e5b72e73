package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"slices"
	"time"
)

// Browsers accept a pinned certificate only when it is ECDSA and valid for two weeks at most (WebTransport,
// serverCertificateHashes). A day goes to clocks that are slow.
const (
	backdated  = 24 * time.Hour
	lifetime   = 13*24*time.Hour - time.Second // both ends count: a second less keeps the sum at two weeks
	renewAfter = 7 * 24 * time.Hour
)

// generated are the self-signed certificates for a list of hosts, newest first. The newest answers handshakes; older
// ones are only listed, until they end, for viewers that were given their fingerprint. The value never changes: advance
// returns the next one.
type generated struct {
	hosts []string
	certs []*tls.Certificate
}

// advance returns what holds at now: a new certificate when there is none or the newest is due, ended ones gone.
func (g generated) advance(now time.Time) (next generated, renewed bool, err error) {
	next = generated{hosts: g.hosts}
	if renewed = len(g.certs) == 0 || !now.Before(g.renewal()); renewed {
		cert, err := selfSigned(g.hosts, now)
		if err != nil {
			return g, false, fmt.Errorf("generate certificate: %w", err)
		}
		next.certs = append(next.certs, cert)
	}
	for _, cert := range g.certs {
		if now.Before(cert.Leaf.NotAfter) {
			next.certs = append(next.certs, cert)
		}
	}
	return next, renewed, nil
}

// renewal is when the newest certificate is due for a successor. There must be one.
func (g generated) renewal() time.Time {
	return g.certs[0].Leaf.NotBefore.Add(backdated + renewAfter)
}

// next is when advance has something to do.
func (g generated) next() time.Time {
	next := g.renewal()
	for _, cert := range g.certs[1:] {
		if cert.Leaf.NotAfter.Before(next) {
			next = cert.Leaf.NotAfter
		}
	}
	return next
}

// selfSigned makes a key and a certificate for it, for DNS names and IP addresses.
func selfSigned(hosts []string, now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := template(hosts, now)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}

func template(hosts []string, now time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: "moqmesh generated"},
		NotBefore:             now.Add(-backdated),
		NotAfter:              now.Add(lifetime),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	for _, host := range slices.Compact(slices.Sorted(slices.Values(hosts))) {
		if ip := net.ParseIP(host); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, host)
		}
	}
	return t, nil
}
