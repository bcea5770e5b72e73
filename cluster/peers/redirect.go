package peers

import (
	"errors"
	"strings"
)

// RedirectPolicy is where a peer that asks us to leave may send us.
type RedirectPolicy uint8

// The policies.
const (
	SameHost RedirectPolicy = iota // only to another port or path of its host
	Follow                         // anywhere
	Ignore                         // nowhere
)

// ErrRedirect says that the policy forbids a target.
var ErrRedirect = errors.New("redirect is not allowed")

// Redirected is how to dial the target of a peer's redirect: with the settings of from, which it stands in for. Its
// own token goes only to the host that it was meant for, and encryption is never given up.
func Redirected(from Entry, uri string, policy RedirectPolicy) (Entry, error) {
	to, _, err := Parse(uri)
	if err != nil {
		return Entry{}, err
	}
	same := to.Key.host() == from.Key.host()
	switch {
	case policy == Ignore, policy == SameHost && !same, to.Key.plain() && !from.Key.plain():
		return Entry{}, ErrRedirect
	}
	if to.Token == "" && same {
		to.Token = from.Token
	}
	to.Cost, to.Egress = from.Cost, from.Egress
	return to, nil
}

// plain says whether the scheme protects nothing.
func (k Key) plain() bool {
	return strings.HasPrefix(string(k), "http:") || strings.HasPrefix(string(k), "ws:")
}
