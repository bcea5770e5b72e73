// Package certs holds the TLS certificates of a relay and keeps them current while it runs.
//
// [Store] is the listening side: certificate files and a generated self-signed certificate, chosen by server name, and
// the authorities that client certificates are checked against. [Client] is the dialling side: whom to trust and what to
// present. Both read files through internal/source, so a broken or half-written file leaves the last good set in use,
// and both change only what later handshakes see: connections that are up stay up. Prepare reads another configuration
// beside the one in force and replaces it as a whole, or not at all.
//
// The rules that depend on time (when a generated certificate is renewed, which are listed) take it as an argument;
// Store.Run is the one place that reads the clock for them.
package certs
