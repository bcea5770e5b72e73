package moqt

// jsImplementation is how @moq/net calls itself in its [Setup]. Nothing else
// tells that it needs [Dialect].Prefixed.
const jsImplementation = "moq-lite-js"

// Settle returns the dialect of a session on which both sides sent their setup.
// The cluster extension is on when both declared a hop id in the same one of
// its two options (§13.2, §13.9).
func Settle(v Version, ours, theirs Setup) Dialect {
	return Dialect{
		Version:  v,
		Cluster:  v.HasCluster() && (ours.HopID.OK && theirs.HopID.OK || ours.RelayHops.OK && theirs.RelayHops.OK),
		Prefixed: v.hasTypedParams() && theirs.Implementation == jsImplementation,
	}
}

// Hop returns the hop id that the sender declared in either option; absent = it
// speaks no cluster extension, 0 = withheld.
func (m Setup) Hop() Optional[uint64] {
	if m.HopID.OK {
		return m.HopID
	}
	return m.RelayHops
}
