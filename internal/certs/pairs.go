package certs

import (
	"crypto/tls"
	"errors"
	"fmt"
)

// parsePair reads a certificate chain and its key, which must match.
func parsePair(cert, key []byte) (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	return &pair, nil
}

// parsePairs reads certificates and keys that alternate, as pairLocations has put them. One bad pair refuses all: half
// a reload would leave names without their certificate.
func parsePairs(locations []string, docs [][]byte) ([]*tls.Certificate, error) {
	var pairs []*tls.Certificate
	for i := 0; i < len(docs); i += 2 {
		pair, err := parsePair(docs[i], docs[i+1])
		if err != nil {
			return nil, fmt.Errorf("certificate %s with key %s: %w", locations[i], locations[i+1], err)
		}
		pairs = append(pairs, pair)
	}
	return pairs, nil
}

// pairLocations pairs certificates and keys by position.
func pairLocations(certs, keys []string) (locations []string, err error) {
	if len(certs) != len(keys) {
		return nil, fmt.Errorf("%d certificates but %d keys: they are paired by position", len(certs), len(keys))
	}
	for i := range certs {
		if certs[i] == "" || keys[i] == "" {
			return nil, errors.New("empty path among certificates and keys")
		}
		locations = append(locations, certs[i], keys[i])
	}
	return locations, nil
}

// pick returns the first certificate that is good for name; without one, the first of all and false. It returns nil
// when there are none.
func pick(all []*tls.Certificate, name string) (cert *tls.Certificate, matched bool) {
	for _, cert := range all {
		if name != "" && cert.Leaf.VerifyHostname(name) == nil {
			return cert, true
		}
	}
	if len(all) == 0 {
		return nil, false
	}
	return all[0], false
}
