package simmesh

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/internal/simlink"
	"github.com/moqmesh/moqmesh/moq/session"
)

// Link joins two relays.
type Link struct {
	m        *Mesh
	names    [2]string
	from, to *Relay // from dials
	cost     string // as in ?cost=; "" = the default
	sockets  int

	ends [2]end // what each of the two received

	mu    sync.Mutex // guards what follows
	line  simlink.Line
	hosts []*simlink.Host // of from, one for each dial
}

// end is what one relay received over a link, on all sessions so far.
type end struct {
	session.Counters
	starts, updates, ends atomic.Uint64
}

// Messages counts announcements.
type Messages struct {
	Starts, Updates, Ends uint64
}

// Total is how many there are.
func (n Messages) Total() uint64 { return n.Starts + n.Updates + n.Ends }

func (n Messages) plus(o Messages) Messages {
	return Messages{n.Starts + o.Starts, n.Updates + o.Updates, n.Ends + o.Ends}
}

// Minus is what has been added since o.
func (n Messages) Minus(o Messages) Messages {
	return Messages{n.Starts - o.Starts, n.Updates - o.Updates, n.Ends - o.Ends}
}

func (n Messages) String() string {
	return fmt.Sprintf("%d (%d starts, %d updates, %d ends)", n.Total(), n.Starts, n.Updates, n.Ends)
}

func parseLink(spec string) (*Link, error) {
	ends, cost, _ := strings.Cut(spec, ":")
	from, to, ok := strings.Cut(ends, "-")
	if !ok || from == "" || to == "" || from == to {
		return nil, fmt.Errorf("link %q is not of the form a-b or a-b:10", spec)
	}
	return &Link{names: [2]string{from, to}, cost: cost}, nil
}

// String is the link's name, such as "a-b".
func (l *Link) String() string { return l.names[0] + "-" + l.names[1] }

// Messages are the announcements that crossed the link, in both directions.
func (l *Link) Messages() (n Messages) {
	for i := range l.ends {
		e := &l.ends[i]
		n = n.plus(Messages{e.starts.Load(), e.updates.Load(), e.ends.Load()})
	}
	return n
}

// Groups are those that crossed the link, in both directions.
func (l *Link) Groups() uint64 {
	return l.ends[0].Ingress.Groups.Load() + l.ends[1].Ingress.Groups.Load()
}

// Subscriptions are those that run over the link, in both directions.
func (l *Link) Subscriptions() (n uint64) {
	for i := range l.ends {
		in := &l.ends[i].Ingress
		n += in.SubscriptionsOpened.Load() - in.SubscriptionsClosed.Load()
	}
	return n
}

// Price changes what the dialling end pulls for, while the session runs.
func (l *Link) Price(cost uint64) {
	l.m.t.Helper()
	l.cost = strconv.FormatUint(cost, 10)
	l.from.follow()
}

// Renew has the dialling end replace the session by another one, as after a change of the peer's settings.
func (l *Link) Renew() {
	l.m.t.Helper()
	l.sockets++
	l.from.follow()
}

// entry is the link as a peer of from.
func (l *Link) entry() (peers.Entry, error) {
	at := fmt.Sprintf("%s?session=%d", l.to.url(), l.sockets)
	if l.cost != "" {
		at += "&cost=" + l.cost
	}
	e, _, err := peers.Parse(at)
	return e, err
}

// set changes the line, for sockets that are open and those to come.
func (l *Link) set(line simlink.Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line = line
	for _, h := range l.hosts {
		h.Set(line)
	}
}

// listen opens the socket of a dial.
func (l *Link) listen(string) (net.PacketConn, error) {
	at := l.from.address(l.from.port())
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.m.net.Host(at, l.line)
	l.hosts = append(l.hosts, h)
	l.m.claim(at, l)
	return h, nil
}

// forsake loses what the sockets still say: their relay is dead.
func (l *Link) forsake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.hosts {
		h.Cut()
	}
	l.hosts = nil
}

// heard takes note of an announcement.
func (l *Link) heard(n *atomic.Uint64) {
	n.Add(1)
	now := time.Now()
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	l.m.said = now
}
