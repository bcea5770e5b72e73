package relay

import (
	"net/http"

	"github.com/moqmesh/moqmesh/relay/topology"
)

// serveNodes lists the relays that we know of (cluster.md §11).
func (r *Relay) serveNodes(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, topology.NodesOf(r.cluster.Nodes(), r.cluster.Links()))
}
