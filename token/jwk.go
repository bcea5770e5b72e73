package token

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/MicahParks/jwkset"
)

// MaxKeyBytes bounds a key or key set document.
const MaxKeyBytes = 1 << 20

// ParseKey reads one JWK: JSON, or the base64url of that JSON that key files
// hold. Without key_ops it may do all that its material can.
func ParseKey(data []byte) (*Key, error) {
	object, err := document(data)
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	k, err := parseJWK(object)
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	return k, nil
}

// document returns the JSON of a key file in either form.
func document(data []byte) ([]byte, error) {
	text := strings.TrimSpace(string(data))
	switch {
	case len(data) > MaxKeyBytes:
		return nil, fmt.Errorf("longer than %d bytes", MaxKeyBytes)
	case text == "":
		return nil, errors.New("empty")
	case text[0] == '{':
		return []byte(text), nil
	}
	object, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return nil, errors.New("neither JSON nor base64url")
	}
	return object, nil
}

func parseJWK(object []byte) (*Key, error) {
	all, err := members(object)
	if err != nil {
		return nil, err
	}
	k := &Key{}
	var use string
	for _, m := range all {
		switch m.name {
		case "kid":
			k.id, err = m.text()
		case "alg":
			k.alg, err = m.text()
		case "use":
			use, err = m.text()
		case "key_ops":
			k.ops, err = m.list()
		case "scope":
			k.scope, err = parseKeyScope(m.value)
		}
		if err != nil {
			return nil, err
		}
	}
	if k.value, err = material(object); err != nil {
		return nil, err
	}
	if k.alg == "" {
		k.alg = inferAlgorithm(k.value)
	}
	return k, k.check(use)
}

// check completes key_ops and refuses a key that cannot be used as it says.
func (k *Key) check(use string) error {
	if k.id != "" && !ValidKeyID(k.id) {
		return fmt.Errorf("kid %.32q: only 1 to 128 of A-Z a-z 0-9 _ and -", k.id)
	}
	if use != "" && use != "sig" {
		return fmt.Errorf("use %.16q: %w", use, errUnsupported)
	}
	if err := checkAlgorithm(k.alg, k.value); err != nil {
		return err
	}
	if k.ops == nil {
		k.ops = []string{"sign", "verify"}
	}
	if !signs(k.value) {
		k.ops = slices.DeleteFunc(k.ops, func(op string) bool { return op == "sign" })
	}
	if !k.may("sign") && !k.may("verify") {
		return fmt.Errorf("key_ops allow neither sign nor verify: %w", errUnsupported)
	}
	return nil
}

// parseKeyScope reads the ceiling of a key. An empty one would refuse every
// token, so it is taken for a mistake.
func parseKeyScope(object []byte) (*Scope, error) {
	all, err := members(object)
	if err != nil {
		return nil, fmt.Errorf("scope: %w", err)
	}
	var r scopeReader
	for _, m := range all {
		taken, err := r.take(m)
		if err == nil && !taken {
			err = fmt.Errorf("unknown member %.64q", m.name)
		}
		if err != nil {
			return nil, fmt.Errorf("scope: %w", err)
		}
	}
	if err := r.scope.check(); err != nil {
		return nil, fmt.Errorf("scope: %w", err)
	}
	return &r.scope, nil
}

// material reads the key itself. Only the members that make up the key reach
// the library: certificate chains and URLs (x5c, x5u) have no say here.
func material(object []byte) (any, error) {
	var m jwkset.JWKMarshal
	if err := json.Unmarshal(object, &m); err != nil {
		return nil, errors.New("a member of the key has the wrong type")
	}
	m = jwkset.JWKMarshal{
		KTY: m.KTY, CRV: m.CRV, X: m.X, Y: m.Y, D: m.D, K: m.K,
		N: m.N, E: m.E, P: m.P, Q: m.Q, DP: m.DP, DQ: m.DQ, QI: m.QI,
	}
	jwk, err := jwkset.NewJWKFromMarshal(m, jwkset.JWKMarshalOptions{Private: true}, jwkset.JWKValidateOptions{})
	switch {
	case errors.Is(err, jwkset.ErrUnsupportedKey):
		return nil, fmt.Errorf("kty %.16q crv %.16q: %w", m.KTY, m.CRV, errUnsupported)
	case err != nil:
		return nil, fmt.Errorf("bad %.16s key", m.KTY) // the library's text may quote the material
	case m.KTY == jwkset.KtyRSA && m.D != "" && !signs(jwk.Key()):
		return nil, errors.New("private RSA key without its primes")
	}
	return jwk.Key(), checkPair(jwk.Key())
}

// checkPair refuses a private key whose public half belongs to another.
func checkPair(key any) error {
	paired := true
	switch key := key.(type) {
	case ed25519.PrivateKey:
		paired = ed25519.NewKeyFromSeed(key.Seed()).Equal(key)
	case *ecdsa.PrivateKey:
		d, err := key.Bytes()
		if err != nil {
			return errors.New("bad EC key")
		}
		derived, err := ecdsa.ParseRawPrivateKey(key.Curve, d)
		paired = err == nil && derived.PublicKey.Equal(&key.PublicKey)
	}
	if !paired {
		return errors.New("the private and public halves do not belong together")
	}
	return nil
}

// JSON returns the key as a JWK, with its secret if it has one.
func (k *Key) JSON() []byte {
	m := jwkMember{Scope: k.scopeObject()}
	jwk, err := jwkset.NewJWKFromKey(k.value, jwkset.JWKOptions{
		Marshal:  jwkset.JWKMarshalOptions{Private: true},
		Metadata: jwkset.JWKMetadataOptions{ALG: jwkset.ALG(k.alg), KID: k.id, KEYOPS: k.keyOps()},
	})
	if err != nil {
		panic(fmt.Sprintf("token: encode %s: %v", k, err)) // it was checked when it was made
	}
	m.JWKMarshal = jwk.Marshal()
	data, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("token: encode %s: %v", k, err)) // strings and lists only
	}
	return data
}

// Encode returns the key as key files hold it: the base64url of JSON.
func (k *Key) Encode() string { return base64.RawURLEncoding.EncodeToString(k.JSON()) }

type jwkMember struct {
	jwkset.JWKMarshal
	Scope map[string]any `json:"scope,omitempty"`
}

func (k *Key) scopeObject() map[string]any {
	if k.scope == nil {
		return nil
	}
	object := make(map[string]any)
	k.scope.put(object)
	return object
}

func (k *Key) keyOps() []jwkset.KEYOPS {
	out := make([]jwkset.KEYOPS, len(k.ops))
	for i, op := range k.ops {
		out[i] = jwkset.KEYOPS(op)
	}
	return out
}
