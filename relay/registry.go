package relay

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
	"github.com/moqmesh/moqmesh/relay/auth"
)

// registry knows the sessions that are open, and holds them to the limits.
type registry struct {
	r      *Relay
	nextID atomic.Uint64

	mu     sync.Mutex
	all    map[uint64]*live
	byAddr map[netip.Addr]int
	gone   chan struct{} // closed when the last session leaves; nil while nobody waits
}

// live is an open session.
type live struct {
	id        uint64
	transport string
	conn      session.Conn
	remote    netip.AddrPort
	started   time.Time
	request   auth.Request

	mu      sync.Mutex
	session *session.Session // nil until it is authorised
	tier    *tier            // nil until then; counts it from then on
	grant   auth.Grant
	role    lite.Role
}

func newRegistry(r *Relay) *registry {
	return &registry{r: r, all: make(map[uint64]*live), byAddr: make(map[netip.Addr]int)}
}

// Reasons for which a session is refused, beside those of package auth.
const (
	refusedSessions = "limit_sessions"
	refusedAddress  = "limit_sessions_per_address"
	refusedSetup    = "setup" // it broke off before it had said what it wants
)

// admit takes a session in, or says why not.
func (g *registry) admit(a arrival) (e *live, reason string) {
	e = &live{
		id: g.nextID.Add(1), transport: a.transport, conn: a.conn, started: time.Now(),
		remote: a.request.Remote, request: a.request,
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if reason := g.overLocked(e.remote.Addr()); reason != "" {
		return e, reason
	}
	g.all[e.id] = e
	g.byAddr[e.remote.Addr()]++
	return e, ""
}

func (g *registry) overLocked(addr netip.Addr) (reason string) {
	limits := &g.r.cfg.Load().Limits
	switch {
	case limits.Sessions > 0 && uint64(len(g.all)) >= limits.Sessions:
		return refusedSessions
	case limits.SessionsPerAddress > 0 && uint64(g.byAddr[addr]) >= limits.SessionsPerAddress:
		return refusedAddress
	}
	return ""
}

// refuse turns an address away before TLS when it holds twice its share: those
// within it get a close that they can read.
func (g *registry) refuse(remote net.Addr) bool {
	limit := g.r.cfg.Load().Limits.SessionsPerAddress
	if limit == 0 {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if uint64(g.byAddr[addrPort(remote).Addr()]) < 2*limit {
		return false
	}
	g.r.refusals.add(refusedAddress)
	return true
}

func (g *registry) remove(e *live) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.all, e.id)
	addr := e.remote.Addr()
	if g.byAddr[addr]--; g.byAddr[addr] <= 0 {
		delete(g.byAddr, addr)
	}
	e.close()
	if len(g.all) == 0 && g.gone != nil {
		close(g.gone)
		g.gone = nil
	}
}

// empty returns a channel that is closed once no session is open.
func (g *registry) empty() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := make(chan struct{})
	if len(g.all) == 0 {
		close(c)
		return c
	}
	if g.gone == nil {
		g.gone = c
	}
	return g.gone
}

// list returns the open sessions by id.
func (g *registry) list() []*live {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]*live, 0, len(g.all))
	for _, e := range g.all {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *live) int { return cmp.Compare(a.id, b.id) })
	return list
}

func (g *registry) closeAll(code session.SessionCode, reason string) int {
	list := g.list()
	for _, e := range list {
		e.conn.Close(code, reason)
	}
	return len(list)
}

// open records what was granted, and counts the session from now on.
func (e *live) open(s *session.Session, g auth.Grant, setup lite.Setup, t *tier) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.session, e.grant, e.role, e.tier = s, g, setup.Role, t
	t.opened.Add(1)
}

// close counts the end of a session that was opened.
func (e *live) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.tier != nil {
		e.tier.closed.Add(1)
	}
}

func (e *live) opened() (*session.Session, auth.Grant, lite.Role) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.session, e.grant, e.role
}
