package relay

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/transport/qmux"
	"github.com/moqmesh/moqmesh/moq/transport/websocket"
	"github.com/moqmesh/moqmesh/moq/wire"
	"github.com/moqmesh/moqmesh/relay/auth"
)

// publicHandler is the router of web.http and web.https (relay.md §4.1).
func (r *Relay) publicHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", serveHealth)
	mux.HandleFunc("GET /ready", r.serveReady)
	mux.HandleFunc("GET /certificate.sha256", r.serveFingerprint)
	mux.HandleFunc("GET /certificates.json", r.serveCertificates)
	mux.HandleFunc("GET /announced", r.serveAnnounced)
	mux.HandleFunc("GET /announced/{prefix...}", r.serveAnnounced)
	mux.HandleFunc("GET /fetch/{path...}", r.serveFetch)
	mux.HandleFunc("/", r.serveOther)
	return withCORS(mux)
}

// withCORS lets pages of any origin read the answers, and answers preflights.
func withCORS(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		if r.Method != http.MethodOptions {
			h.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Access-Control-Allow-Methods", "GET")
		if want := r.Header.Get("Access-Control-Request-Headers"); want != "" {
			w.Header().Set("Access-Control-Allow-Headers", want)
		}
		w.WriteHeader(http.StatusOK)
	})
}

func serveHealth(w http.ResponseWriter, _ *http.Request) { text(w, http.StatusOK, "ok\n") }

func (r *Relay) serveReady(w http.ResponseWriter, _ *http.Request) {
	switch {
	case r.draining.Load():
		text(w, http.StatusServiceUnavailable, "draining\n")
	case !r.ready.Load():
		text(w, http.StatusServiceUnavailable, "starting\n")
	default:
		text(w, http.StatusOK, "ready\n")
	}
}

func text(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write([]byte(body))
}

func (r *Relay) serveFingerprint(w http.ResponseWriter, _ *http.Request) {
	if r.certs == nil {
		text(w, http.StatusNotFound, "no certificate\n")
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	text(w, http.StatusOK, r.certs.SHA256())
}

func (r *Relay) serveCertificates(w http.ResponseWriter, _ *http.Request) {
	if r.certs == nil {
		text(w, http.StatusNotFound, "no certificate\n")
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	writeJSON(w, http.StatusOK, r.certs.Listing())
}

// webListenerOf is the name of the listener that took a request.
func webListenerOf(req *http.Request) string {
	if req.TLS != nil {
		return "https"
	}
	return "http"
}

// webRequest is what an HTTP request shows to be authorised by.
func webRequest(req *http.Request, path, transport string) auth.Request {
	a := auth.Request{Path: path, Query: req.URL.RawQuery, Transport: transport, ServerName: hostName(req.Host)}
	if p, err := netip.ParseAddrPort(req.RemoteAddr); err == nil {
		a.Remote = netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
	}
	if req.TLS != nil {
		a.Certificate = leaf(req.TLS.VerifiedChains)
	}
	return a
}

func hostName(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(host)
}

// authoriseWeb decides on an HTTP request, and answers it where the decision is no.
func (r *Relay) authoriseWeb(w http.ResponseWriter, req *http.Request, path, transport string) (auth.Grant, bool) {
	g, err := r.auth.Load().Authorize(req.Context(), time.Now(), webRequest(req, path, transport))
	if err == nil {
		return g, true
	}
	status, code := http.StatusInternalServerError, "error"
	var refusal *auth.Refusal
	if errors.As(err, &refusal) {
		status, code = refusal.Status, refusal.Code
		r.log.Info("request refused", "status", status, "code", code, "err", refusal.Err)
	}
	text(w, status, code+"\n")
	return g, false
}

// serveAnnounced lists what is announced below a prefix, now.
func (r *Relay) serveAnnounced(w http.ResponseWriter, req *http.Request) {
	prefix, err := wire.CleanPath(req.PathValue("prefix"))
	if err != nil {
		text(w, http.StatusBadRequest, "malformed prefix\n")
		return
	}
	g, ok := r.authoriseWeb(w, req, prefix, "http")
	if !ok {
		return
	}
	reader := moq.Reader{Hidden: g.Peer, Allow: func(path string) bool { return readable(g, path) }}
	names := r.origin.Paths(g.Root, reader)
	for i, path := range names {
		names[i], _ = wire.TrimPathPrefix(path, g.Root)
	}
	text(w, http.StatusOK, strings.Join(names, "\n"))
}

// readable says whether a grant allows to read a path. What relays tell each other
// is for peers (cluster.md §17).
func readable(g auth.Grant, path string) bool {
	rel, ok := wire.TrimPathPrefix(path, g.Root)
	return ok && g.Subscribe.Match(rel) && (g.Peer || !wire.HasPathPrefix(path, peers.Reserved))
}

// landing answers a browser that was pointed at the relay itself.
const landing = `<!doctype html><html lang="en"><meta charset="utf-8"><title>moqmesh relay</title>
<p>This is a <strong>moqmesh</strong> Media over QUIC relay. Sessions connect here over WebTransport, QUIC or WebSocket;
<a href="/health">/health</a> and <a href="/announced">/announced</a> answer plain requests.</p></html>
`

// serveOther upgrades WebSockets, and shows strangers where they are.
func (r *Relay) serveOther(w http.ResponseWriter, req *http.Request) {
	if r.cfg.Load().Web.WS && strings.EqualFold(req.Header.Get("Upgrade"), "websocket") {
		r.serveWebSocket(w, req)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusNotFound)
	w.Write([]byte(landing))
}

// serveWebSocket authorises, upgrades and serves a session.
func (r *Relay) serveWebSocket(w http.ResponseWriter, req *http.Request) {
	r.handlers.Add(1)
	defer r.handlers.Done()
	g, ok := r.authoriseWeb(w, req, req.URL.Path, "websocket")
	if !ok {
		return
	}
	conn, agreed, err := websocket.Accept(w, req, websocket.AcceptOptions{
		ALPNs: transport.ALPNs(r.versions), Logger: r.log, Conn: qmux.Config{QueueBytes: int(r.cfg.Load().Limits.QueuePerSession)},
	})
	if err != nil {
		return
	}
	moved := make(chan struct{})
	go func() {
		defer close(moved)
		conn.Run(context.WithoutCancel(req.Context())) // to the end of the session, whose close it flushes
	}()
	alpn := agreed.ALPN
	if alpn == "moql" {
		alpn = ""
	}
	a := arrival{conn: conn, listener: webListenerOf(req), transport: "websocket", alpn: alpn, grant: &g}
	a.request = webRequest(req, req.URL.Path, "websocket")
	r.serveSession(req.Context(), a)
	<-moved
}
