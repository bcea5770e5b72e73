package moqt

import "github.com/moqmesh/moqmesh/moq/wire"

// Dialect is what the layout of a session's control messages depends on. Its
// version alone is enough for a [Setup]; [Settle] makes the rest of two of them.
type Dialect struct {
	Version Version
	// Cluster says that both sides declared a hop id, so that advertisements
	// carry hop paths and costs (§13.2). It counts from 17 on.
	Cluster bool
	// Prefixed says that the peer reads and writes a length before
	// LARGEST_OBJECT and INCLUDE_PROPERTIES from 17 on, as @moq/net up to 0.3.4
	// does, which can only be told by its implementation string (§14.4).
	Prefixed bool
}

// cluster reports whether the parameters of the cluster extension exist.
func (d Dialect) cluster() bool { return d.Cluster && d.Version.HasCluster() }

// prefixed reports whether those two parameters have a length where the draft
// gives them none.
func (d Dialect) prefixed() bool { return d.Prefixed && d.Version.hasTypedParams() }

// reader takes fields off the front of one message body; see [wire.Reader].
type reader struct {
	wire.Reader
	d Dialect
}

func (d Dialect) reader(body []byte) *reader {
	return &reader{wire.NewReader(d.Version.Encoding(), body), d}
}

// nested reads a length and lets read have that many bytes, all of which it
// must take.
func (r *reader) nested(read func(*reader)) {
	inner := r.d.reader(r.Bytes(MaxBody))
	if r.Err() != nil {
		return
	}
	read(inner)
	if err := inner.Close(); err != nil {
		r.Fail(err)
	}
}
