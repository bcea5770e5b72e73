package conf

import (
	"strings"

	"github.com/moqmesh/moqmesh/internal/config"
)

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
