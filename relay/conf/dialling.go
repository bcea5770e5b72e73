package conf

// refuseDialling stops configurations that this release cannot serve: the
// settings exist, the part that follows them does not yet.
func (c *checker) refuseDialling(l Cluster) {
	const text = "cluster dialling arrives with the cluster release"
	c.fail(len(l.Connect) > 0, "cluster.connect", text)
	c.fail(l.ConnectAPI != "", "cluster.connect_api", text)
	c.fail(l.Node != "", "cluster.node", text)
	c.fail(l.Mesh.On, "cluster.mesh", text)
	c.fail(l.Token != "", "cluster.token", text)
	c.fail(l.Tier != "", "cluster.tier", text)
	c.fail(len(l.InternalPeers) > 0, "cluster.internal_peers", text)
}
