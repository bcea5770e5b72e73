package relay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"path"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/moqmesh/moqmesh/token"
)

// internalHandler is the operator's router (relay.md §4.2).
func (r *Relay) internalHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", serveHealth)
	mux.HandleFunc("GET /ready", r.serveReady)
	mux.Handle("GET /metrics", promhttp.HandlerFor(r.metrics(), promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /nodes", r.serveNodes)
	mux.HandleFunc("GET /routes", r.serveRoutes)
	mux.HandleFunc("GET /sessions", r.serveSessions)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

// sessionInfo is one entry of /sessions. It shows neither query nor token.
type sessionInfo struct {
	ID         string  `json:"id"`
	Transport  string  `json:"transport"`
	Remote     string  `json:"remote,omitempty"`
	Local      string  `json:"local,omitempty"`
	ServerName string  `json:"server_name,omitempty"`
	Proto      string  `json:"proto,omitempty"`
	Path       string  `json:"path"`
	Role       string  `json:"role,omitempty"`
	Tier       string  `json:"tier,omitempty"`
	Subject    string  `json:"subject,omitempty"`
	Started    int64   `json:"started"`
	RTTms      float64 `json:"rtt_ms,omitempty"`
	Sent       uint64  `json:"bytes_sent,omitempty"`
	Received   uint64  `json:"bytes_received,omitempty"`
	Lost       uint64  `json:"packets_lost,omitempty"`
}

var roleNames = [...]string{"", "publisher", "subscriber"}

func (e *live) info() sessionInfo {
	s, g, role := e.opened()
	stats := e.conn.Stats()
	i := sessionInfo{
		ID: strconv.FormatUint(e.id, 10), Transport: e.transport, Remote: e.remote.String(),
		ServerName: e.request.ServerName, Role: roleNames[role], Tier: g.Tier, Subject: g.Subject,
		Path: g.Root, Started: e.started.Unix(), RTTms: float64(stats.RTT.Microseconds()) / 1000,
		Sent: stats.BytesSent, Received: stats.BytesReceived, Lost: stats.PacketsLost,
	}
	if a := e.conn.LocalAddr(); a != nil {
		i.Local = a.String()
	}
	if s != nil {
		i.Proto = s.Version().String()
	}
	return i
}

// listenerInfo is one listener in /sessions.
type listenerInfo struct {
	Listener string `json:"listener"`
	Addr     string `json:"addr"`
	// LastSession is when a session last came in, in Unix seconds by transport; 0 = none yet.
	LastSession map[string]float64 `json:"last_session"`
}

// listeners are the open listeners for sessions, by name.
func (r *Relay) listeners() []listenerInfo {
	list, last := []listenerInfo{}, r.arrivals.all()
	for name, addr := range r.Addrs() {
		i := listenerInfo{Listener: name, Addr: addr.String(), LastSession: make(map[string]float64)}
		for kind, at := range last {
			if kind.listener == name {
				i.LastSession[kind.transport] = at
			}
		}
		if len(i.LastSession) > 0 {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b listenerInfo) int { return cmp.Compare(a.Listener, b.Listener) })
	return list
}

// sessionFilter matches one field of a session against a query value.
type sessionFilter func(i sessionInfo, value string) (bool, error)

// sessionFilters are the fields that /sessions can be filtered by.
var sessionFilters = map[string]sessionFilter{
	"id":          equals(func(i sessionInfo) string { return i.ID }),
	"transport":   equals(func(i sessionInfo) string { return i.Transport }),
	"server_name": equals(func(i sessionInfo) string { return i.ServerName }),
	"proto":       equals(func(i sessionInfo) string { return i.Proto }),
	"role":        equals(func(i sessionInfo) string { return i.Role }),
	"remote":      inRange(func(i sessionInfo) string { return i.Remote }),
	"local":       inRange(func(i sessionInfo) string { return i.Local }),
	"path": func(i sessionInfo, value string) (bool, error) {
		p, err := token.ParsePattern(value)
		return err == nil && p.Match(i.Path), err
	},
}

func equals(field func(sessionInfo) string) sessionFilter {
	return func(i sessionInfo, value string) (bool, error) { return field(i) == value, nil }
}

// inRange matches an address against an IP or a CIDR range.
func inRange(field func(sessionInfo) string) sessionFilter {
	return func(i sessionInfo, value string) (bool, error) {
		p, err := netip.ParsePrefix(value)
		if err != nil {
			a, err := netip.ParseAddr(value)
			if err != nil {
				return false, err
			}
			p = netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen())
		}
		at, err := netip.ParseAddrPort(field(i))
		return err == nil && p.Contains(at.Addr().Unmap()), nil
	}
}

// serveSessions lists the sessions that match all given fields.
func (r *Relay) serveSessions(w http.ResponseWriter, req *http.Request) {
	list := []sessionInfo{}
	for _, e := range r.sessions.list() {
		list = append(list, e.info())
	}
	for name, values := range req.URL.Query() {
		match := sessionFilters[name]
		if match == nil {
			text(w, http.StatusBadRequest, fmt.Sprintf("unknown filter field: %s\n", path.Base(name)))
			return
		}
		var err error
		if list, err = filter(list, match, values); err != nil {
			text(w, http.StatusBadRequest, fmt.Sprintf("invalid %s: %v\n", name, err))
			return
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"sessions": list, "listeners": r.listeners()})
}

func filter(list []sessionInfo, match sessionFilter, values []string) ([]sessionInfo, error) {
	kept := []sessionInfo{}
	for _, value := range values {
		if _, err := match(sessionInfo{}, value); err != nil {
			return nil, err
		}
	}
	for _, i := range list {
		for _, value := range values {
			if ok, _ := match(i, value); ok {
				kept = append(kept, i)
				break
			}
		}
	}
	return kept, nil
}
