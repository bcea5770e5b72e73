// Package auth decides who may open a session on the relay, and with which rights.
//
// Start from [New], which takes a [Config], and [Authorizer.Authorize], which
// turns a [Request] into a [Grant] or a [Refusal]. The first of these that
// applies decides alone; their rights are never added up:
//
//  1. an internal peer's address: full access;
//  2. a verified client certificate: full access, or what its scope allows;
//  3. a token: what it says, if a key verifies it;
//  4. the public rules.
//
// With an auth API the keys and the public rules come from its answer, and no
// connection of kinds 2 to 4 is admitted without one.
//
// An Authorizer starts no goroutine. It looks at key files and addresses when a
// connection needs them, so that a new key works without a restart.
package auth
