package route

import (
	"errors"
	"time"
)

// Why a list of hops is refused. The peer has no route to the name then, until it
// sends another list.
var (
	ErrLoop    = errors.New("hop list holds this relay or one relay twice")
	ErrTooLong = errors.New("hop list is longer than allowed")
	// ErrNoLink is what is learnt from a peer that SetLink has not told of.
	ErrNoLink = errors.New("route from a peer without a link")
)

// Config is not changed once handed over.
type Config struct {
	// Self is this relay's hop id; 0 = none, and its own routes are not recognised.
	Self uint64
	// MaxHops is the longest list that is used; one hop less is passed on. 1 to 32; 0 = 32.
	MaxHops int
	// Linger is how long the routes of a lost peer stay announced; 0 = not at all.
	Linger time.Duration
}

// Table holds the routes that one relay knows and picks one for each name and
// reader. It has no clock, lock or goroutine: its owner passes the time in, which
// does not go back, and calls one method at a time. It bounds no number of names:
// who learns bounds what a peer may announce.
type Table struct{ cfg Config }

// New returns an empty table.
func New(cfg Config) *Table { return &Table{cfg: cfg} }

// SetLink tells of a new connection, or of a change of it: its identity, price,
// GOAWAY. All its routes are priced anew.
func (t *Table) SetLink(now time.Time, p Peer, l Link) []Change { return nil }

// Learn takes an announcement or its update in place. The error says that the
// list is refused, which is as if the peer had no route; the changes count in
// any case.
func (t *Table) Learn(now time.Time, p Peer, name string, r Route) ([]Change, error) { return nil, nil }

// Withdraw ends an announcement because the peer said so, at once. Other routes
// that run through that peer are hidden for a moment. One that is not there is ignored.
func (t *Table) Withdraw(now time.Time, p Peer, name string) []Change { return nil }

// Lose ends all routes of a connection that is gone; they linger where Config
// says so. The peer is not heard of again.
func (t *Table) Lose(now time.Time, p Peer) []Change { return nil }

// Carry says that a live subscription pulls a name through us, or that the last
// one has left. Names without a route are remembered.
func (t *Table) Carry(now time.Time, name string, on bool) []Change { return nil }

// Advance does what is due. It is to be called at Next, and may be at any time.
func (t *Table) Advance(now time.Time) []Change { return nil }

// Next is when Advance has work; zero = never, as things stand.
func (t *Table) Next() time.Time { return time.Time{} }

// Serving is where we pull a name from.
func (t *Table) Serving(name string) (Choice, bool) { return Choice{}, false }

// Source is where a request of a reader is served from: the serving route, or the
// best other one where that runs through the reader. Nothing: unroutable.
func (t *Table) Source(name string, r Reader) (Choice, bool) { return Choice{}, false }

// Usable says whether a reader may be served from the serving route.
func (t *Table) Usable(name string, r Reader) bool { return false }

// Offer is what to tell a reader: the serving route, or the best other one where
// that runs through the reader or does not fit its bound. Our own hop is not on
// the list and has room there.
func (t *Table) Offer(name string, r Reader) (Choice, bool) { return Choice{}, false }

// Explain lists every route of a name, the serving one first, then in the order
// of preference, then those that cannot be used.
func (t *Table) Explain(name string) []Candidate { return nil }

// Names calls each with every name that has a serving route, in no order, until
// it returns false.
func (t *Table) Names(each func(name string) bool) {}
