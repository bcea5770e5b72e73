// Package cluster links a relay with others: it dials the peers that the configuration, a peer list or their own
// announcements name, keeps each session up, follows changes without losing a group, and tells how every link does.
//
// Start from [New] and [Cluster.Run]. How a session is made is the caller's: see [Dial] and [DialClient]. What a
// peer is and which wish counts are the rules of package peers; which route a broadcast takes is none of this
// package's business, but for the price of a link.
//
// Run owns the set of peers; each link has one goroutine, which owns its sessions. The methods that report may be
// called from anywhere, at any time.
package cluster
