package certs

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Fingerprint returns the SHA-256 of a certificate's DER form in lower-case hex without separators: what browsers take
// in serverCertificateHashes and what connect.tls.fingerprint lists.
func Fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// pins are the only certificates that a dial accepts, whoever signed them.
type pins map[[sha256.Size]byte]bool

// parsePins reads hex digests, in either case and with or without the colons that openssl prints.
func parsePins(all []string) (pins, error) {
	p := pins{}
	var errs []error
	for _, s := range all {
		sum, err := hex.DecodeString(strings.ReplaceAll(s, ":", ""))
		if err != nil || len(sum) != sha256.Size {
			errs = append(errs, fmt.Errorf("fingerprint %q is not a SHA-256 in hex (64 digits)", s))
			continue
		}
		p[[sha256.Size]byte(sum)] = true
	}
	return p, errors.Join(errs...)
}

// verify takes the place of checking the chain. It runs on resumed sessions as well.
func (p pins) verify(cs tls.ConnectionState) error {
	if len(cs.PeerCertificates) == 0 {
		return errors.New("peer sent no certificate")
	}
	leaf := cs.PeerCertificates[0].Raw
	if !p[sha256.Sum256(leaf)] {
		return fmt.Errorf("certificate %s is not among the accepted fingerprints", Fingerprint(leaf))
	}
	return nil
}
