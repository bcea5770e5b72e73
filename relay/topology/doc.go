// Package topology is what operators and their tools are shown of a relay's place
// among others: the relays it knows ([NodesOf]), the way of each broadcast and why
// it was chosen ([Describe]), and a page of both ([Routes.WriteHTML]). It reads, and
// changes nothing. Nothing in its documents is a secret.
package topology
