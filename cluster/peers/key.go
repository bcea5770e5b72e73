package peers

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Key identifies a peer: its URL without query, fragment and user, scheme and host in lower case, the scheme's own
// port left out, runs of slashes one, none at the end of a path. Two spellings with one key are one peer. It may be
// shown.
type Key string

// defaultPorts are those of the schemes that can be dialled. http has none: its port serves both the fingerprint and
// the session, which fall back to different ones.
var defaultPorts = map[string]string{"https": "443", "moqt": "443", "moql": "443", "wss": "443", "ws": "80", "http": ""}

// longest bounds the URL of a peer, in bytes.
const longest = 2048

var (
	errNoURL   = errors.New("not a URL with a host")
	errTooLong = fmt.Errorf("URL longer than %d bytes", longest)
)

// parseURL never repeats what it was given: that may hold a token.
func parseURL(s string) (*url.URL, error) {
	if len(s) > longest {
		return nil, errTooLong
	}
	u, err := url.Parse(s)
	if err != nil || u.Opaque != "" || u.Hostname() == "" {
		return nil, errNoURL
	}
	if _, ok := defaultPorts[u.Scheme]; !ok {
		return nil, errors.New("scheme is none of https, moqt, moql, wss, ws, http")
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 {
			return nil, errors.New("port is not from 1 to 65535")
		}
	}
	return u, nil
}

func keyOf(u *url.URL) Key {
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if p := u.Port(); p != "" && p != defaultPorts[u.Scheme] {
		host += ":" + p
	}
	var path strings.Builder
	for segment := range strings.SplitSeq(u.EscapedPath(), "/") {
		if segment != "" {
			path.WriteString("/" + segment)
		}
	}
	if path.Len() == 0 {
		path.WriteByte('/') // as in every other relay's keys, whose order decides who dials
	}
	return Key(u.Scheme + "://" + host + path.String())
}

// host is the name or address in k, without the port.
func (k Key) host() string {
	u, err := url.Parse(string(k))
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// Dials says whether, of two relays that found each other by gossip, own is the one that dials: the lesser key. A
// relay does not dial itself.
func Dials(own, peer Key) bool { return own != "" && own < peer }
