// Package token holds the credentials of the relay: who may publish and
// subscribe where, and the signed tokens that say so.
//
// Start from [Pattern], which names a set of broadcast paths, [Claims], which
// is what a token says, and [Key] and [KeySet], which sign and verify. Tokens
// are JWTs and keys are JWKs in the two dialects of the Rust relay: the older
// put/get suffixes and the newer publish/subscribe patterns.
//
// The package reads no clock, file or socket: callers pass the time and the
// bytes. Values are immutable once made and safe for concurrent use.
package token
