package conf

import (
	"strings"

	"github.com/moqmesh/moqmesh/internal/config"
)

// refuseLater stops configurations that this release cannot serve: the settings
// exist, the part that follows them does not yet. Silently doing less than was
// asked for would be worse.
func (c *checker) refuseLater(r Relay) {
	const cluster = "cluster dialling arrives with the cluster release"
	c.fail(len(r.Cluster.Connect) > 0, "cluster.connect", cluster)
	c.fail(r.Cluster.ConnectAPI != "", "cluster.connect_api", cluster)
	c.fail(r.Cluster.Node != "", "cluster.node", cluster)
	c.fail(r.Cluster.Mesh.On, "cluster.mesh", cluster)
	c.fail(r.Cluster.Token != "", "cluster.token", cluster)
	c.fail(r.Cluster.Tier != "", "cluster.tier", cluster)
	c.fail(len(r.Cluster.InternalPeers) > 0, "cluster.internal_peers", cluster)
	c.fail(r.Cluster.Linger > 0, "cluster.linger", cluster)
}

// NotYet reports settings that are valid, and that files for other relays have,
// but that this release does not serve. A relay does not start with them.
func NotYet(r Relay) config.Problems {
	var c checker
	const text = "arrives with the moq-transport release"
	c.fail(r.Listen.TCP.Bind != "", "listen.tcp.bind", "qmux over TCP "+text)
	c.fail(r.Listen.Unix.Bind != "", "listen.unix.bind", "qmux over Unix sockets "+text)
	for _, v := range r.Listen.Version {
		c.fail(strings.HasPrefix(string(v), "moq-transport-"), "listen.version", "%s "+text, v)
	}
	return c.found
}
