package certs

import (
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"
)

func TestFingerprint(t *testing.T) {
	// SHA-256 of "abc", FIPS 180-2 appendix B.1.
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if got := Fingerprint([]byte("abc")); got != want {
		t.Errorf("Fingerprint(abc) = %s, want %s", got, want)
	}
	openssl := strings.ToUpper(want[:2])
	for i := 2; i < len(want); i += 2 {
		openssl += ":" + strings.ToUpper(want[i:i+2])
	}
	for _, s := range []string{want, openssl} {
		p, err := parsePins([]string{s})
		if err != nil {
			t.Fatalf("parsePins(%s) = %v", s, err)
		}
		peer := tls.ConnectionState{PeerCertificates: []*x509.Certificate{{Raw: []byte("abc")}}}
		if err := p.verify(peer); err != nil {
			t.Errorf("verify with pin %s: %v", s, err)
		}
		peer.PeerCertificates[0].Raw = []byte("abd")
		if err := p.verify(peer); err == nil {
			t.Errorf("verify with pin %s takes another certificate", s)
		}
		if err := p.verify(tls.ConnectionState{}); err == nil {
			t.Errorf("verify with pin %s takes no certificate", s)
		}
	}
}

func TestParsePinsRefuses(t *testing.T) {
	for _, s := range []string{"", "abcd", strings.Repeat("zz", 32), strings.Repeat("ab", 33)} {
		if _, err := parsePins([]string{s}); err == nil {
			t.Errorf("parsePins(%q) succeeded", s)
		}
	}
}
