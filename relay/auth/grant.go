package auth

import (
	"time"

	"github.com/moqmesh/moqmesh/token"
)

// Grant is what an admitted session may do.
type Grant struct {
	Root      string         // absolute clean path that the session's names are relative to
	Publish   token.Patterns // relative to Root; nil = nothing
	Subscribe token.Patterns // relative to Root; nil = nothing
	Expires   time.Time      // when the session must end; zero = never
	Peer      bool           // the other side is a relay of this mesh
	Tier      string         // metrics tier; "" = none
	Subject   string         // who it is, for logs: how it was admitted and the name of key or certificate
	TokenID   string         // jti of the token, by which the session can be closed; "" = none
	Holder    string         // sub of the token; "" = none
}

var everything = token.Scope{
	Publish:   token.Patterns{token.Everything},
	Subscribe: token.Patterns{token.Everything},
}

// grantAt makes the grant of a scope at the dialled path. subject says whose it is.
func grantAt(s token.Scope, path, subject string) (Grant, error) {
	at := s.At(path)
	if at.Empty() {
		return Grant{}, refuse(CodePath, "%s with root %q: nothing is granted at %q", subject, s.Root, path)
	}
	return Grant{Root: at.Root, Publish: at.Publish, Subscribe: at.Subscribe, Subject: subject}, nil
}

// allows refuses a role that the grant has no right for.
func (g Grant) allows(role Role) error {
	if role == Publisher && len(g.Publish) == 0 || role == Subscriber && len(g.Subscribe) == 0 {
		return refuse(CodeRole, "the role %s is not granted at %q", role, g.Root)
	}
	return nil
}
