package relay

import (
	"net/http"
	"strings"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/relay/topology"
)

// serveRoutes tells the way of each broadcast, and with why all routes of one: as
// JSON to those who ask for it, else as a page.
func (r *Relay) serveRoutes(w http.ResponseWriter, req *http.Request) {
	values := req.URL.Query()
	q, err := topology.ParseQuery(values)
	format := values.Get("format")
	switch {
	case err != nil:
		text(w, http.StatusBadRequest, err.Error()+"\n")
		return
	case format != "" && format != "json" && format != "html":
		text(w, http.StatusBadRequest, "invalid format: want json or html\n")
		return
	}
	routes := topology.Describe(topology.Relay{
		Node: r.node(), Origin: r.origin, Links: r.cluster.Links(), Nodes: r.cluster.Nodes(),
	}, q)
	if format == "json" || format == "" && wantsJSON(req) {
		writeJSON(w, http.StatusOK, routes)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", topology.ContentSecurityPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	if err := routes.WriteHTML(w, q); err != nil {
		r.log.Debug("page of routes", "err", err)
	}
}

// node is the relay's own URL as others know it, "" where it is not configured.
func (r *Relay) node() string {
	e, err := peers.ParseNode(r.cfg.Load().Cluster.NodeURL())
	if err != nil {
		return ""
	}
	return string(e.Key)
}

// wantsJSON says that a client accepts JSON and is no browser.
func wantsJSON(req *http.Request) bool {
	accept := strings.Join(req.Header.Values("Accept"), ",")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}
