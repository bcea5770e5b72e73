package session

import (
	"errors"
	"sync/atomic"

	"github.com/moqmesh/moqmesh/moq"
)

// Counters count what sessions move. They only rise. One set is shared by all
// sessions of a kind; all fields are safe for concurrent use.
type Counters struct {
	Egress, Ingress Traffic // to subscribers; from publishers
	Control         Control
	Ended           [ends]atomic.Uint64 // sessions that Run has served, by how they ended
	Forwarding      Delays              // from a group's arrival to its hand-over to a viewer's stream, of a sample

	GroupsSkipped  atomic.Uint64 // not begun for a viewer: stale when their turn came
	GroupsReset    atomic.Uint64 // begun and given up: stale, or too many open
	StaleFrames    atomic.Uint64 // of both, as far as they were here and not in the transport's hands
	StaleBytes     atomic.Uint64 // the same, with frame headers
	DatagramsLost  atomic.Uint64 // too large for the path, or no room
	StreamsRefused atomic.Uint64 // unknown or malformed
	Violations     atomic.Uint64 // sessions closed for one
	Limited        atomic.Uint64 // requests and announcements over a limit
	TimedOut       atomic.Uint64 // requests and setups that got no answer in time
}

// skip counts groups that were not begun for a viewer.
func (c *Counters) skip(a moq.Amount) {
	c.GroupsSkipped.Add(a.Groups)
	c.stale(a)
}

// reset counts a group that was given up.
func (c *Counters) reset(rest moq.Amount) {
	c.GroupsReset.Add(rest.Groups)
	c.stale(rest)
}

func (c *Counters) stale(a moq.Amount) {
	c.StaleFrames.Add(a.Frames)
	c.StaleBytes.Add(a.Bytes)
}

// Traffic is one direction of content.
type Traffic struct {
	Bytes, Frames, Groups, Datagrams, Fetches atomic.Uint64
	SubscriptionsOpened, SubscriptionsClosed  atomic.Uint64
	AnnouncesStarted, AnnouncesEnded          atomic.Uint64
	Broadcasts, BroadcastsClosed              atomic.Uint64 // with at least one subscription of a session
}

// Class sorts control bytes for Counters.Control.
type Class uint8

// The classes of control traffic.
const (
	ClassSession Class = iota
	ClassAnnounce
	ClassTrackInfo
	ClassSubscribe
	ClassFetch
	ClassProbe
	ClassGoaway
	ClassOther
	classes
)

// Classes are the names of the classes, by Class.
var Classes = [classes]string{"session", "announce", "track_info", "subscribe", "fetch", "probe", "goaway", "other"}

// Control counts the bytes of control streams by class; media never counts here.
type Control struct {
	Sent, Received [classes]atomic.Uint64
}

// End sorts how sessions end for Counters.Ended.
type End uint8

// The ways of a session to end.
const (
	EndLocal     End = iota // we closed it, for no fault of the peer's
	EndPeer                 // the peer closed it, with whatever code
	EndViolation            // we closed it because the peer broke the protocol
	EndIdle                 // nothing came from the peer for the idle timeout
	EndLost                 // the connection broke
	ends
)

// Ends are the names of the ways to end, by End.
var Ends = [ends]string{"closed_here", "closed_by_peer", "violation", "idle_timeout", "connection_lost"}

// endOf sorts the cause of a connection's end.
func endOf(cause error) End {
	var (
		closed *CloseError
		lost   *LostError
	)
	switch {
	case errors.As(cause, &closed) && closed.Remote:
		return EndPeer
	case errors.As(cause, &closed) && closed.Code == CodeProtocolViolation:
		return EndViolation
	case errors.As(cause, &closed):
		return EndLocal
	case errors.As(cause, &lost) && lost.Idle:
		return EndIdle
	}
	return EndLost
}
