package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"fmt"

	"github.com/golang-jwt/jwt/v5"
)

const (
	minSecretBytes = 32   // RFC 7518 section 3.2 for HS256; kept for all
	minRSABits     = 2048 // RFC 7518 section 3.3
)

// algorithms maps each name to what its keys must be. The key decides the
// algorithm and never the token, so that no token can swap one for another.
var algorithms = map[string]func(key any) bool{
	"HS256": isSecret, "HS384": isSecret, "HS512": isSecret,
	"RS256": isRSA, "RS384": isRSA, "RS512": isRSA,
	"PS256": isRSA, "PS384": isRSA, "PS512": isRSA,
	"ES256": isCurve(elliptic.P256()), "ES384": isCurve(elliptic.P384()),
	"EdDSA": isEd25519,
}

func isSecret(key any) bool {
	secret, ok := key.([]byte)
	return ok && len(secret) >= minSecretBytes
}

func isRSA(key any) bool {
	pub, ok := publicOf(key).(*rsa.PublicKey)
	return ok && pub.N.BitLen() >= minRSABits
}

func isCurve(curve elliptic.Curve) func(any) bool {
	return func(key any) bool {
		pub, ok := publicOf(key).(*ecdsa.PublicKey)
		return ok && pub.Curve == curve
	}
}

func isEd25519(key any) bool {
	_, ok := publicOf(key).(ed25519.PublicKey)
	return ok
}

// publicOf returns the half of key that verifies; a secret is its own.
func publicOf(key any) any {
	if private, ok := key.(crypto.Signer); ok {
		return private.Public()
	}
	return key
}

// signs reports whether key can sign at all.
func signs(key any) bool {
	_, private := key.(crypto.Signer)
	_, secret := key.([]byte)
	return private || secret
}

// inferAlgorithm names the only algorithm that key can have; "" when there are several.
func inferAlgorithm(key any) string {
	switch {
	case isEd25519(key):
		return "EdDSA"
	case isCurve(elliptic.P256())(key):
		return "ES256"
	case isCurve(elliptic.P384())(key):
		return "ES384"
	}
	return ""
}

func checkAlgorithm(alg string, key any) error {
	fits, known := algorithms[alg]
	switch {
	case alg == "":
		return fmt.Errorf("alg is missing")
	case !known:
		return fmt.Errorf("alg %.16q: %w", alg, errUnsupported)
	case !fits(key):
		return fmt.Errorf("the key does not fit alg %s, or is too short for it", alg)
	}
	return nil
}

func method(alg string) jwt.SigningMethod { return jwt.GetSigningMethod(alg) }
