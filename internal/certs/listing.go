package certs

import (
	"crypto/tls"
	"time"
)

// Listing is the body of /certificates.json.
type Listing struct {
	// Certificates are in configuration order; of a generated one the newest comes first.
	Certificates []Entry `json:"certificates"`
}

// Entry describes one certificate to those who pin it.
type Entry struct {
	// SHA256 is the Fingerprint.
	SHA256 string `json:"sha256"`
	// NotBefore and NotAfter bound its validity.
	NotBefore time.Time `json:"notBefore"`
	NotAfter  time.Time `json:"notAfter"`
	// Current says that handshakes are answered with it. A generated certificate that has a successor is not current,
	// but listed until it ends.
	Current bool `json:"current"`
}

// Listing returns every certificate that a connection may have been made with.
func (s *Store) Listing() Listing {
	all := Listing{Certificates: []Entry{}}
	offer := s.offer.get()
	for _, cert := range offer.serving() {
		all.Certificates = append(all.Certificates, entry(cert, true))
	}
	for _, cert := range offer.retired() {
		all.Certificates = append(all.Certificates, entry(cert, false))
	}
	return all
}

func entry(cert *tls.Certificate, current bool) Entry {
	return Entry{
		SHA256:    Fingerprint(cert.Leaf.Raw),
		NotBefore: cert.Leaf.NotBefore,
		NotAfter:  cert.Leaf.NotAfter,
		Current:   current,
	}
}

// SHA256 is the body of /certificate.sha256: the fingerprint of the first certificate that answers handshakes. It is
// empty when none is loaded.
func (s *Store) SHA256() string {
	if serving := s.offer.get().serving(); len(serving) > 0 {
		return Fingerprint(serving[0].Leaf.Raw)
	}
	return ""
}
