package token

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/golang-jwt/jwt/v5"
)

// GenerateKey makes a signing key for alg: HS, RS or PS with 256, 384 or 512,
// ES256, ES384 or EdDSA. An empty id becomes eight random bytes in hex. scope,
// if not nil, is the most that its tokens may grant.
func GenerateKey(alg, id string, scope *Scope) (*Key, error) {
	if id == "" {
		var b [8]byte
		rand.Read(b[:])
		id = hex.EncodeToString(b[:])
	}
	if scope != nil {
		if err := scope.check(); err != nil {
			return nil, fmt.Errorf("key scope: %w", err)
		}
	}
	value, err := generate(alg)
	if err != nil {
		return nil, fmt.Errorf("generate %.16q key: %w", alg, err)
	}
	k := &Key{id: id, alg: alg, scope: scope, value: value}
	return k, k.check("")
}

func generate(alg string) (any, error) {
	switch alg {
	case "HS256", "HS384", "HS512":
		secret := make([]byte, secretBytes[alg])
		rand.Read(secret)
		return secret, nil
	case "RS256", "RS384", "RS512", "PS256", "PS384", "PS512":
		return rsa.GenerateKey(rand.Reader, minRSABits)
	case "ES256":
		return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "ES384":
		return ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case "EdDSA":
		_, private, err := ed25519.GenerateKey(rand.Reader)
		return private, err
	}
	return nil, errUnsupported
}

// secretBytes is the size of the hash, which RFC 7518 section 3.2 asks for.
var secretBytes = map[string]int{"HS256": 32, "HS384": 48, "HS512": 64}

// Sign makes a token of c. Claims that grant nothing, or more than the key
// may, are refused.
func (k *Key) Sign(c Claims) (string, error) {
	if !k.may("sign") {
		return "", fmt.Errorf("%s cannot sign", k)
	}
	if err := c.check(); err != nil {
		return "", err
	}
	if err := k.permit(c.Scope); err != nil {
		return "", err
	}
	t := jwt.NewWithClaims(method(k.alg), &payload{raw: c.encode()})
	if k.id != "" {
		t.Header["kid"] = k.id
	}
	signed, err := t.SignedString(k.value)
	if err != nil {
		return "", fmt.Errorf("sign with %s: %w", k, err)
	}
	return signed, nil
}

// payload carries claims through the JWT library unread: they are looked at
// only once the signature holds, and by our rules.
type payload struct {
	jwt.Claims
	raw json.RawMessage
}

func (p *payload) MarshalJSON() ([]byte, error) { return p.raw, nil }

func (p *payload) UnmarshalJSON(data []byte) error {
	p.raw = append(p.raw[:0], data...)
	return nil
}
