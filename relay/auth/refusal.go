package auth

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/moqmesh/moqmesh/token"
)

// The codes of refusals beyond those of package token.
const (
	CodeNoCredential = "no-credential"       // nothing presented, and no public rule
	CodeTokenUnasked = "token-unasked"       // a token, and only public rules to judge it
	CodeTwoTokens    = "two-tokens"          // the URL and SETUP hold different tokens
	CodeCertificate  = "certificate-expired" // the client certificate is past notAfter
	CodePath         = "path-not-covered"    // the credential grants nothing at the dialled path
	CodeRole         = "role-not-granted"    // not what the session says it will do
	CodeUpstream     = "upstream"            // the auth API gave no usable answer, or keys could not be read
)

// Codes lists every code that a Refusal can carry, for metrics that start at zero.
func Codes() []string {
	codes := []string{CodeNoCredential, CodeTokenUnasked, CodeTwoTokens, CodeCertificate, CodePath, CodeRole, CodeUpstream}
	for _, c := range token.Codes {
		codes = append(codes, string(c))
	}
	return codes
}

// Refusal is the error of every connection that is not admitted.
type Refusal struct {
	// Status is the HTTP status that says it: 401 refused, 403 the declared
	// role is not granted, 502 the decision could not be had.
	Status int
	// Code is one of Codes; it may be shown to the client.
	Code string
	// Err is the whole reason, for the server's log. It holds no credential.
	Err error
}

func (r *Refusal) Error() string { return fmt.Sprintf("%s: %v", r.Code, r.Err) }

// Unwrap returns the whole reason.
func (r *Refusal) Unwrap() error { return r.Err }

func refuse(code, format string, args ...any) *Refusal {
	status := http.StatusUnauthorized
	switch code {
	case CodeRole:
		status = http.StatusForbidden
	case CodeUpstream:
		status = http.StatusBadGateway
	}
	return &Refusal{Status: status, Code: code, Err: fmt.Errorf(format, args...)}
}

// refusal gives an error of any of our sources its status and code.
func refusal(err error) *Refusal {
	var r *Refusal
	if errors.As(err, &r) {
		return r
	}
	var te *token.Error
	if errors.As(err, &te) {
		return &Refusal{Status: http.StatusUnauthorized, Code: string(te.Code), Err: te.Err}
	}
	return refuse(CodeUpstream, "%w", err)
}
