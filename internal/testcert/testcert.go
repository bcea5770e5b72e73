// Package testcert makes certificates for tests: a throw-away authority, server and client certificates signed by it,
// in memory or as PEM files. Keys are ECDSA P-256. Nothing here may be used outside tests.
//
// Start from [NewCA]; [CA.Server] and [CA.Client] cover most tests, [CA.Issue] the rest.
package testcert

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// CA is a certificate authority that lives as long as its test.
type CA struct {
	// Cert is the authority's own self-signed certificate.
	Cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Request says what a certificate is to hold.
type Request struct {
	// CommonName is the subject's name. Empty means none.
	CommonName string
	// Names are DNS names and IP addresses for the subject alternative names.
	Names []string
	// NotBefore and NotAfter bound the validity. Zero means an hour ago and a day ahead.
	NotBefore, NotAfter time.Time
	// Usage is what the key may be used for.
	Usage x509.ExtKeyUsage
}

// Cert is one issued certificate with its key.
type Cert struct {
	// TLS is ready for a tls.Config; its Leaf is set.
	TLS tls.Certificate
	// CertPEM and KeyPEM are what Write puts into files.
	CertPEM, KeyPEM []byte
}

// NewCA returns an authority with the given subject name, valid from an hour ago for ten years.
func NewCA(t testing.TB, name string) *CA {
	t.Helper()
	key := newKey(t)
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          newSerial(t),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.AddDate(10, 0, 0),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	return &CA{Cert: sign(t, template, template, key, key), key: key}
}

// Server issues a server certificate for the given DNS names and IP addresses.
func (ca *CA) Server(t testing.TB, names ...string) *Cert {
	t.Helper()
	return ca.Issue(t, Request{Names: names, Usage: x509.ExtKeyUsageServerAuth})
}

// Client issues a client certificate whose common name and DNS name are name.
func (ca *CA) Client(t testing.TB, name string) *Cert {
	t.Helper()
	return ca.Issue(t, Request{CommonName: name, Names: []string{name}, Usage: x509.ExtKeyUsageClientAuth})
}

// Issue signs the certificate that r describes.
func (ca *CA) Issue(t testing.TB, r Request) *Cert {
	t.Helper()
	key := newKey(t)
	leaf := sign(t, r.template(t), ca.Cert, key, ca.key)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatalf("encode key: %v", err)
	}
	return &Cert{
		TLS:     tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf},
		CertPEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw}),
		KeyPEM:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
	}
}

// Pool returns a pool that trusts this authority alone.
func (ca *CA) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(ca.Cert)
	return pool
}

// PEM returns the authority's certificate.
func (ca *CA) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Cert.Raw})
}

// Write puts the authority's certificate into dir/name and returns that path.
func (ca *CA) Write(t testing.TB, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	write(t, path, ca.PEM())
	return path
}

// Write puts the certificate into dir/name.crt and its key into dir/name.key and returns both paths.
func (c *Cert) Write(t testing.TB, dir, name string) (certPath, keyPath string) {
	t.Helper()
	certPath = filepath.Join(dir, name+".crt")
	keyPath = filepath.Join(dir, name+".key")
	write(t, certPath, c.CertPEM)
	write(t, keyPath, c.KeyPEM)
	return certPath, keyPath
}

func (r Request) template(t testing.TB) *x509.Certificate {
	t.Helper()
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: newSerial(t),
		Subject:      pkix.Name{CommonName: r.CommonName},
		NotBefore:    orElse(r.NotBefore, now.Add(-time.Hour)),
		NotAfter:     orElse(r.NotAfter, now.Add(24*time.Hour)),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{r.Usage},
	}
	for _, name := range r.Names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	return template
}

func sign(t testing.TB, template, parent *x509.Certificate, key, parentKey *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		t.Fatalf("sign certificate: %v", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatalf("parse certificate: %v", err)
	}
	return cert
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("generate key: %v", err)
	}
	return key
}

func newSerial(t testing.TB) *big.Int {
	t.Helper()
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		t.Fatalf("draw serial number: %v", err)
	}
	return serial
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func orElse(at, otherwise time.Time) time.Time {
	if at.IsZero() {
		return otherwise
	}
	return at
}
