package qmux

import (
	"net"
	"time"

	wire "github.com/moqmesh/moqmesh/moq/wire/qmux"
)

// Pipe is a reliable, ordered channel of messages. A Conn reads with one
// goroutine and writes with another.
type Pipe interface {
	// ReadMessage returns the next message, valid until the next call. Where the
	// peer ended the channel with a MoQ code the error is a *session.CloseError.
	ReadMessage() ([]byte, error)
	// WriteMessage sends p and does not keep it.
	WriteMessage(p []byte) error
	// Close ends the channel, telling the peer why where it can, and unblocks
	// the other methods. It returns within a second or two whatever the peer does.
	Close(cause error) error
}

// Config is one side of a connection. The zero value is a legacy server; zero
// fields take the stated defaults.
type Config struct {
	// Version is the framing both sides agreed on.
	Version wire.Version
	// Client says that we dialled: it decides the ids of our streams.
	Client bool

	// MaxStreams and MaxUniStreams bound the streams of each kind that the peer
	// may have open at once. Zero means 100; 1000 in the legacy framing, whose
	// peers do not know of a limit.
	MaxStreams, MaxUniStreams int
	// ConnWindow bounds the stream data of the connection that is received and
	// not yet read, in bytes. Zero means 1 MiB; 4 MiB in the legacy framing.
	ConnWindow int
	// StreamWindow is the same for one stream. Zero means 256 KiB; the legacy
	// framing has ConnWindow only.
	StreamWindow int
	// QueueBytes bounds the stream data that is queued and not yet sent. Zero means 1 MiB.
	QueueBytes int

	// IdleTimeout ends a connection on which nothing arrives; the smaller of
	// both sides' holds. Zero means 30 s. From qmux-01 on.
	IdleTimeout time.Duration
	// HandshakeTimeout is how long the peer's transport parameters may take.
	// Zero means 10 s. From qmux-00 on.
	HandshakeTimeout time.Duration
	// PingInterval is the time between two pings, which measure the round trip
	// and keep the peer from timing out. Zero means 5 s. From qmux-01 on.
	PingInterval time.Duration

	// LocalAddr and RemoteAddr are reported as they are.
	LocalAddr, RemoteAddr net.Addr
}

const (
	defaultStreams       = 100
	defaultLegacyStreams = 1000
	defaultConnWindow    = 1 << 20
	defaultLegacyWindow  = 4 << 20
	defaultStreamWindow  = 256 << 10
	defaultQueueBytes    = 1 << 20
	defaultIdle          = 30 * time.Second
	defaultHandshake     = 10 * time.Second
	defaultPing          = 5 * time.Second
)

func (c Config) withDefaults() Config {
	streams, window := defaultStreams, defaultConnWindow
	if c.Version == wire.Legacy {
		streams, window = defaultLegacyStreams, defaultLegacyWindow
	}
	setDefault(&c.MaxStreams, streams)
	setDefault(&c.MaxUniStreams, streams)
	setDefault(&c.ConnWindow, window)
	setDefault(&c.StreamWindow, defaultStreamWindow)
	setDefault(&c.QueueBytes, defaultQueueBytes)
	setDefault(&c.IdleTimeout, defaultIdle)
	setDefault(&c.HandshakeTimeout, defaultHandshake)
	setDefault(&c.PingInterval, defaultPing)
	if c.Version == wire.Legacy {
		c.StreamWindow = c.ConnWindow
	}
	return c
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// parameters are what we grant and announce.
func (c Config) parameters() wire.Parameters {
	p := wire.Parameters{
		MaxData:                 uint64(c.ConnWindow),
		MaxStreamDataBidiLocal:  uint64(c.StreamWindow),
		MaxStreamDataBidiRemote: uint64(c.StreamWindow),
		MaxStreamDataUni:        uint64(c.StreamWindow),
		MaxStreamsBidi:          uint64(c.MaxStreams),
		MaxStreamsUni:           uint64(c.MaxUniStreams),
	}
	if c.Version.Records() {
		p.MaxIdleTimeout = c.IdleTimeout
		p.MaxDatagramFrame = wire.MaxRecord
		p.MaxRecord = wire.MaxRecord
	}
	return p
}
