package token

import (
	"encoding/json"
	"errors"
	"fmt"
)

// maxKeys bounds one key set.
const maxKeys = 256

// KeySet is what a relay verifies tokens with: one key, or several told apart by kid.
type KeySet struct {
	keys   []*Key
	single bool // read from a lone JWK: the kid of a token is then of no concern
}

// NewKeySet makes a set of keys, which need distinct kids when there are several.
func NewKeySet(keys ...*Key) (*KeySet, error) {
	if len(keys) == 0 {
		return nil, errors.New("no usable key")
	}
	seen := make(map[string]bool)
	for _, k := range keys {
		if k.id != "" && seen[k.id] {
			return nil, fmt.Errorf("two keys with kid %s", k.id)
		}
		seen[k.id] = true
	}
	return &KeySet{keys: keys}, nil
}

// ParseKeySet reads a JWK, whose kid then need not match the token's, or a
// JWKS ({"keys": [...]}), both in the forms of ParseKey. Other members of the
// document are ignored, and so are keys of a JWKS that are of no kind of ours.
func ParseKeySet(data []byte) (*KeySet, error) {
	s, err := parseKeySet(data)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	return s, nil
}

func parseKeySet(data []byte) (*KeySet, error) {
	object, err := document(data)
	if err != nil {
		return nil, err
	}
	all, err := members(object)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if m.name == "keys" {
			return parseKeys(m)
		}
	}
	k, err := parseJWK(object)
	if err != nil {
		return nil, err
	}
	return &KeySet{keys: []*Key{k}, single: true}, nil
}

func parseKeys(m member) (*KeySet, error) {
	var objects []json.RawMessage
	if err := m.decode(&objects, "a list of keys"); err != nil {
		return nil, err
	}
	if len(objects) > maxKeys {
		return nil, fmt.Errorf("more than %d keys", maxKeys)
	}
	var keys []*Key
	for i, object := range objects {
		k, err := parseJWK(object)
		if errors.Is(err, errUnsupported) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", i+1, err)
		}
		keys = append(keys, k)
	}
	return NewKeySet(keys...)
}

// Has reports whether the set holds the key that a token with this kid means:
// one of that name, or a lone key without a name.
func (s *KeySet) Has(id string) bool {
	for _, k := range s.keys {
		if k.id == id || s.single && k.id == "" {
			return true
		}
	}
	return false
}

// key chooses the key for a token: by kid, or the only one there is.
func (s *KeySet) key(id string) (*Key, error) {
	if len(s.keys) == 1 && (s.single || id == "") {
		return s.keys[0], nil
	}
	if id == "" {
		return nil, refuse(UnknownKey, "the token names no kid and there are %d keys", len(s.keys))
	}
	for _, k := range s.keys {
		if k.id == id {
			return k, nil
		}
	}
	return nil, refuse(UnknownKey, "no key with kid %.128q", id)
}
