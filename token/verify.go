package token

import (
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// MaxBytes is the longest token that is looked at.
const MaxBytes = 16 << 10

// Verify returns the claims of a token that one of the keys signed and that
// holds at now. Errors are of type *Error.
func (s *KeySet) Verify(now time.Time, token string) (Claims, error) {
	id, err := KeyID(token)
	if err != nil {
		return Claims{}, err
	}
	k, err := s.key(id)
	if err != nil {
		return Claims{}, err
	}
	c, err := k.open(token)
	if err != nil {
		return Claims{}, err
	}
	if err := c.CheckTime(now); err != nil {
		return Claims{}, err
	}
	return c, k.permit(c.Scope)
}

// KeyID returns the kid in the header of a token that nobody has verified yet;
// "" when it names none.
func KeyID(token string) (string, error) {
	if len(token) > MaxBytes {
		return "", refuse(Malformed, "longer than %d bytes", MaxBytes)
	}
	head, _, _ := strings.Cut(token, ".")
	object, err := base64.RawURLEncoding.DecodeString(head)
	if err != nil {
		return "", refuse(Malformed, "header is not base64url")
	}
	all, err := members(object)
	if err != nil {
		return "", refuse(Malformed, "header: %w", err)
	}
	id := ""
	for _, m := range all {
		switch m.name {
		case "kid":
			if id, err = m.text(); err != nil || !ValidKeyID(id) {
				return "", refuse(Malformed, "header: kid is not 1 to 128 of A-Z a-z 0-9 _ and -")
			}
		case "crit": // RFC 7515 section 4.1.11: what we do not understand, we must refuse
			return "", refuse(Malformed, "header: crit is not supported")
		}
	}
	return id, nil
}

// open checks the signature and reads the claims.
func (k *Key) open(token string) (Claims, error) {
	if !k.may("verify") {
		return Claims{}, refuse(UnknownKey, "%s may not verify", k)
	}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{k.alg}), jwt.WithStrictDecoding(), jwt.WithoutClaimsValidation())
	var p payload
	t, err := parser.ParseWithClaims(token, &p, func(*jwt.Token) (any, error) { return publicOf(k.value), nil })
	switch {
	case err == nil:
		return decodeClaims(p.raw)
	case errors.Is(err, jwt.ErrTokenMalformed):
		return Claims{}, refuse(Malformed, "not a JWT")
	case t == nil || t.Method == nil || t.Method.Alg() != k.alg:
		return Claims{}, refuse(Algorithm, "not signed with %s, the algorithm of %s", k.alg, k)
	}
	return Claims{}, refuse(Signature, "signature does not match %s", k)
}
