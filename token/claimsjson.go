package token

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// decodeClaims reads the payload of a token whose signature was verified.
func decodeClaims(data []byte) (Claims, error) {
	all, err := members(data)
	if err != nil {
		return Claims{}, refuse(Malformed, "claims: %w", err)
	}
	var c Claims
	var scope scopeReader
	for _, m := range all {
		if taken, err := scope.take(m); errors.Is(err, errMixed) {
			return Claims{}, refuse(BadClaims, "claims: %w", err)
		} else if err != nil {
			return Claims{}, refuse(Malformed, "claim %w", err)
		} else if taken {
			continue
		}
		if err := c.take(m); err != nil {
			return Claims{}, err
		}
	}
	c.Scope = scope.scope
	return c, c.check()
}

func (c *Claims) take(m member) (err error) {
	switch m.name {
	case "exp":
		c.Expires, err = m.date()
	case "iat":
		c.IssuedAt, err = m.date()
	case "nbf":
		c.NotBefore, err = m.date()
	case "jti":
		c.ID = label(m)
	case "sub":
		c.Subject = label(m)
	case "iss":
	case "cluster":
		c.Cluster, err = m.flag()
	default:
		return refuse(BadClaims, "claim %.64q is not one of ours", m.name)
	}
	if err != nil {
		return refuse(Malformed, "claim %w", err)
	}
	return nil
}

// label reads a claim that other issuers fill as they like: anything but a
// short string is the same as absent.
func label(m member) string {
	const maxLabel = 256
	if s, err := m.text(); err == nil && len(s) <= maxLabel {
		return s
	}
	return ""
}

func (c Claims) encode() []byte {
	object := make(map[string]any)
	c.Scope.put(object)
	for name, at := range map[string]time.Time{"exp": c.Expires, "iat": c.IssuedAt, "nbf": c.NotBefore} {
		if !at.IsZero() {
			object[name] = at.Unix()
		}
	}
	if c.ID != "" {
		object["jti"] = c.ID
	}
	if c.Subject != "" {
		object["sub"] = c.Subject
	}
	if c.Cluster {
		object["cluster"] = true
	}
	data, err := json.Marshal(object)
	if err != nil {
		panic(fmt.Sprintf("token: encode claims: %v", err)) // strings, numbers and lists only
	}
	return data
}
