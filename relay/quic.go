package relay

import (
	"os"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"

	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/relay/conf"
)

// quicConfig says our settings in quic-go's words.
func quicConfig(c conf.QUIC) *quic.Config {
	q := transport.DefaultQUIC()
	q.MaxIncomingStreams = int64(c.MaxStreams)
	q.MaxIncomingUniStreams = int64(c.MaxStreams)
	q.MaxIdleTimeout = c.IdleTimeout
	if c.IdleTimeout == 0 {
		q.MaxIdleTimeout = 1 << 62
	}
	q.KeepAlivePeriod = c.KeepAlive
	q.DisablePathMTUDiscovery = !c.MTUDiscovery
	if c.ReceiveWindow > 0 {
		q.MaxConnectionReceiveWindow = uint64(c.ReceiveWindow)
	}
	if c.StreamReceiveWindow > 0 {
		q.MaxStreamReceiveWindow = uint64(c.StreamReceiveWindow)
	}
	if c.QLog != "" {
		os.Setenv("QLOGDIR", c.QLog) // how quic-go's tracer takes its directory
		q.Tracer = qlog.DefaultConnectionTracer
	}
	if !c.GSO {
		os.Setenv("QUIC_GO_DISABLE_GSO", "true")
	}
	return q
}
