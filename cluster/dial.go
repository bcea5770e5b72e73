package cluster

import (
	"context"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// Request is one dial of one peer.
type Request struct {
	// URL is where to dial. It may hold a credential and must not be logged.
	URL string
	// Peer is the same to be shown.
	Peer peers.Key
	// LinkCost prices what we pull; absent = what the peer declares, else 1.
	LinkCost lite.Optional
	// Declare is what to tell the peer that pulling from us costs; absent = nothing.
	Declare lite.Optional
	// PeerID stands for the peer where its wire carries no hop id; 0 = unknown.
	PeerID uint64
	// OnGoaway is told when the peer asks us to leave, for uri where that is not empty. It does not block.
	OnGoaway func(uri string)
}

// Dial makes a session with a peer. It returns when ctx ends.
type Dial func(ctx context.Context, r Request) (Dialled, error)

// Dialled is a session that we made, and how it is shown.
type Dialled struct {
	Session
	Conn  uint64 // its number in logs; 0 = none
	Proto string // version of the protocol
}

// Session is what a link needs of a session. Methods are safe for concurrent use.
type Session interface {
	// Run serves the session until it ends, or ctx does, with whose cause it is closed, and returns why. Nothing of
	// it is left behind then.
	Run(ctx context.Context) error
	// PeerSetup waits for what the peer says of itself; nothing on wires that have no setup.
	PeerSetup(ctx context.Context) (lite.Setup, error)
	// SetLinkCost changes what we pull for, in place; absent = what the peer declares, else 1.
	SetLinkCost(price lite.Optional)
	// Idle says whether no subscription runs in either direction.
	Idle() bool
	// Goaway tells the peer that we leave, for uri where that is not empty.
	Goaway(ctx context.Context, uri string) error
	// Stats is what the transport knows of the path.
	Stats() session.Stats
}

// DialClient dials with package client, each session alike but for what the request says.
func DialClient(base client.Config) Dial {
	return func(ctx context.Context, r Request) (Dialled, error) {
		cfg := base
		cfg.Cost, cfg.LinkCost, cfg.ServerID, cfg.OnGoaway = r.Declare, r.LinkCost, r.PeerID, r.OnGoaway
		c, err := client.Dial(ctx, r.URL, cfg)
		if err != nil {
			return Dialled{}, err
		}
		return Dialled{Session: clientSession{c}, Proto: c.Version().String()}, nil
	}
}

// clientSession is a client as a Session.
type clientSession struct{ *client.Client }

// Stats is what the transport knows of the path.
func (c clientSession) Stats() session.Stats { return c.Conn().Stats() }
