package token

import "fmt"

// Code says in one word why a token was refused. It is safe to show to the
// client and fit for a metric label.
type Code string

// All the codes there are.
const (
	Malformed  Code = "token-malformed" // not a JWT, or a claim that cannot be read
	UnknownKey Code = "token-key"       // no key for its kid
	Algorithm  Code = "token-alg"       // not the algorithm of its key
	Signature  Code = "token-signature" // not signed by its key
	Expired    Code = "token-expired"   // exp is now or past
	NoExpiry   Code = "token-no-exp"    // exp is required and absent
	NotYet     Code = "token-not-yet"   // nbf or iat is ahead of our clock
	BadClaims  Code = "token-claims"    // a claim we do not know, or dialects mixed
	NoRights   Code = "token-no-rights" // grants nothing
	AboveKey   Code = "token-above-key" // grants more than its key may
)

// Codes lists every code, for metrics that start at zero.
var Codes = []Code{Malformed, UnknownKey, Algorithm, Signature, Expired, NoExpiry, NotYet, BadClaims, NoRights, AboveKey}

// Error is a refused token. Its text is for the server's log: it names the
// claim or the key, never the token.
type Error struct {
	Code Code
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Code, e.Err) }

// Unwrap returns what went wrong in detail.
func (e *Error) Unwrap() error { return e.Err }

func refuse(code Code, format string, args ...any) error {
	return &Error{Code: code, Err: fmt.Errorf(format, args...)}
}
