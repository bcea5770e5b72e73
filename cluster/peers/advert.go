package peers

import (
	"errors"
	"fmt"
	"strings"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// The paths by which relays find each other. Only relays may announce below Reserved or learn of what is there.
const (
	Reserved = ".internal"
	Prefix   = Reserved + "/origins" // adverts: one broadcast for each relay, whose name is all of the message
)

var errToken = errors.New("holds a token (jwt=), but it is announced to other relays and logged")

// ParseNode reads a relay's own URL. A token in it is an error that does not show it.
func ParseNode(s string) (Entry, error) {
	e, _, err := Parse(s)
	if err == nil && e.Token != "" {
		err = errToken
	}
	return e, err
}

// AdvertPath is the path at which the relay with this URL announces itself. The URL becomes part of a path, so runs of
// slashes are one there and a last one is gone.
func AdvertPath(node string) (string, error) {
	if _, err := ParseNode(node); err != nil {
		return "", err
	}
	path, err := wire.CleanPath(Prefix + "/" + node)
	if err != nil {
		return "", fmt.Errorf("as a path: %w", err)
	}
	return path, nil
}

// ParseAdvert is the peer that announces itself at path. Errors do not repeat path, which anybody chose.
func ParseAdvert(path string) (Entry, error) {
	node, ok := wire.TrimPathPrefix(path, Prefix)
	if !ok || node == "" {
		return Entry{}, errors.New("not below " + Prefix)
	}
	if scheme, rest, _ := strings.Cut(node, "/"); strings.HasSuffix(scheme, ":") {
		node = scheme + "//" + rest
	}
	return ParseNode(node)
}
