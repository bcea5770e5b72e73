// Package simmesh runs meshes of relays in a synctest bubble: each relay is a real cluster, a real name space and real
// QUIC sessions; only the wires between them and the time are simulated. Tests build a mesh, break it and look at what
// viewers got and what the relays said to each other. Nothing here may be used outside tests.
//
// Start from [New]; [Mesh.Publish] and [Mesh.Subscribe] bring clients, [Mesh.Cut], [Relay.Crash] and others do harm,
// and [Mesh.Until] measures how long it lasts.
package simmesh
