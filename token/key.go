package token

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Key is one JWK: a secret, a private key or a public key, with the algorithm
// it is for. It prints as its name; only JSON and Encode show its secret.
type Key struct {
	id    string
	alg   string
	ops   []string // key_ops: "sign", "verify"
	scope *Scope   // nil = no ceiling
	value any      // []byte, or a pointer or slice of crypto/rsa, ecdsa, ed25519
}

// errUnsupported marks a key of a kind we do not have. A key set may hold such
// keys for others (RFC 7517 section 5).
var errUnsupported = errors.New("not supported")

// ID returns the kid, "" when the key has none.
func (k *Key) ID() string { return k.id }

// Algorithm returns the JWT alg that the key signs and verifies with, and no other.
func (k *Key) Algorithm() string { return k.alg }

// Scope returns the most that a token of this key may grant; ok is false when
// there is no ceiling.
func (k *Key) Scope() (s Scope, ok bool) {
	if k.scope == nil {
		return Scope{}, false
	}
	return *k.scope, true
}

// String names the key without showing it.
func (k *Key) String() string {
	if k.id == "" {
		return k.alg + " key without kid"
	}
	return k.alg + " key " + k.id
}

// GoString is String: %#v must not print the secret either.
func (k *Key) GoString() string { return k.String() }

// Public returns the key that only verifies. A secret (HS256 and its kin) has none.
func (k *Key) Public() (*Key, error) {
	if _, secret := k.value.([]byte); secret {
		return nil, fmt.Errorf("%s: a shared secret has no public half", k)
	}
	return &Key{id: k.id, alg: k.alg, ops: []string{"verify"}, scope: k.scope, value: publicOf(k.value)}, nil
}

func (k *Key) may(op string) bool { return slices.Contains(k.ops, op) }

// permit refuses a scope that exceeds the ceiling of the key.
func (k *Key) permit(s Scope) error {
	if k.scope != nil && !k.scope.Covers(s) {
		return refuse(AboveKey, "%s: its scope does not cover what the token grants", k)
	}
	return nil
}

// ValidKeyID reports whether id may be a kid: 1 to 128 of A-Z a-z 0-9 _ and -.
// Such an id is also safe as a file name.
func ValidKeyID(id string) bool {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	return len(id) >= 1 && len(id) <= 128 && strings.Trim(id, alphabet) == ""
}
