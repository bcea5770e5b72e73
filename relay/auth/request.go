package auth

import (
	"crypto/x509"
	"net/netip"
	"net/url"

	"github.com/moqmesh/moqmesh/token"
)

// Role is what a session declares it will do.
type Role string

// The roles that are held against the grant; any other declares nothing.
const (
	Publisher  Role = "publisher"
	Subscriber Role = "subscriber"
)

// Request is what is known of a session before it is admitted. The zero value
// of each field means unknown or absent.
type Request struct {
	Path        string            // as dialled, without query
	Query       string            // raw; the last jwt that is not empty is the token
	Token       string            // from SETUP
	Certificate *x509.Certificate // leaf, already verified against the client roots
	Transport   string            // name of the transport, for the auth API
	Remote      netip.AddrPort
	ServerName  string // SNI, or the host of the URL; no port
	Role        Role
}

// presented returns the one token of the request, "" when there is none.
func (r Request) presented() (string, error) {
	inURL := queryToken(r.Query)
	switch {
	case inURL == "":
		return r.Token, nil
	case r.Token != "" && r.Token != inURL:
		return "", refuse(CodeTwoTokens, "the URL and SETUP hold different tokens")
	}
	return inURL, nil
}

func queryToken(query string) string {
	values, _ := url.ParseQuery(query) // a bad pair does not hide the good ones
	last := ""
	for _, v := range values["jwt"] {
		if v != "" {
			last = v
		}
	}
	return last
}

// dialled returns the absolute path of the session: the path, behind the labels
// in front of the longest of domains that the server name ends in.
func (r Request) dialled(domains []string) string {
	return token.Join(domainPath(r.ServerName, domains), r.Path)
}
