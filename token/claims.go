package token

import "time"

// Leeway is how far nbf and iat may lie ahead of our clock. exp has none.
const Leeway = 5 * time.Second

// Claims is what a token says. Times have a resolution of one second when signed.
type Claims struct {
	Scope

	Expires   time.Time // exp: refused from then on; zero = never
	IssuedAt  time.Time // iat; zero = absent
	NotBefore time.Time // nbf; zero = absent
	ID        string    // jti: names the token in logs and close lists; "" = absent; not judged
	Subject   string    // sub: names its holder; "" = absent; not judged
	Cluster   bool      // cluster: the holder is a relay of this mesh
}

// CheckTime refuses claims that are not valid at now.
func (c Claims) CheckTime(now time.Time) error {
	switch {
	case !c.Expires.IsZero() && !now.Before(c.Expires):
		return refuse(Expired, "exp %s is %s past", stamp(c.Expires), now.Sub(c.Expires).Round(time.Second))
	case c.NotBefore.After(now.Add(Leeway)):
		return refuse(NotYet, "nbf %s is ahead of %s", stamp(c.NotBefore), stamp(now))
	case c.IssuedAt.After(now.Add(Leeway)):
		return refuse(NotYet, "iat %s is ahead of %s", stamp(c.IssuedAt), stamp(now))
	}
	return nil
}

// RequireExpiry refuses claims that never expire.
func (c Claims) RequireExpiry() error {
	if c.Expires.IsZero() {
		return refuse(NoExpiry, "exp is absent and required")
	}
	return nil
}

func (c Claims) check() error {
	if err := c.Scope.check(); err != nil {
		return refuse(NoRights, "%w", err)
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
