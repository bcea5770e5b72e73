package topology

import "github.com/moqmesh/moqmesh/cluster"

// Nodes are the relays that a relay knows of, as JSON: what /nodes answers
// (cluster.md §11).
type Nodes struct {
	Nodes []Node `json:"nodes"` // by URL
	// Unmatched are inbound links whose peer announces itself under no URL, or
	// under more than one.
	Unmatched []Link `json:"unmatched,omitempty"`
}

// Node is a relay that is dialled or announces itself.
type Node struct {
	Node     string  `json:"node"`      // its URL without query
	OriginID *string `json:"origin_id"` // its hop id, decimal; nil = unknown
	// Announced is how it announces itself; nil where it does not.
	Announced *Announced `json:"announced"`
	// Connections are the sessions with it; Links are these and those that are
	// down, in full.
	Connections []Connection `json:"connections"`
	Links       []Link       `json:"links,omitempty"`
}

// Announced is the way on which a relay's announcement of itself came.
type Announced struct {
	Hops     []string `json:"hops"` // decimal, the relay itself first
	HopCount int      `json:"hop_count"`
	Cost     uint64   `json:"cost"`
}

// Connection is a session with another relay. The id is that of logs, and not proof
// of who it is.
type Connection struct {
	ID        uint64 `json:"id"`
	Direction string `json:"direction"` // inbound or outbound
}

// NodesOf describes the relays that a cluster knows of. links are all its links:
// those that stand with no node are listed apart.
func NodesOf(nodes []cluster.NodeStatus, links []cluster.LinkStatus) Nodes {
	list := Nodes{Nodes: make([]Node, len(nodes))}
	placed := make(map[string]bool)
	for i, n := range nodes {
		list.Nodes[i] = nodeOf(n)
		placed[n.Node] = true
	}
	for _, l := range links {
		if !placed[l.Peer] {
			list.Unmatched = append(list.Unmatched, linkOf(l))
		}
	}
	return list
}

func nodeOf(s cluster.NodeStatus) Node {
	n := Node{Node: s.Node, Connections: []Connection{}, Links: linksOf(s.Links)}
	if s.HopID != 0 {
		id := hopID(s.HopID)
		n.OriginID = &id
	}
	if s.Announced {
		n.Announced = &Announced{Hops: decimals(s.Route.Hops), HopCount: len(s.Route.Hops), Cost: s.Route.Cost}
	}
	for _, l := range n.Links {
		if l.Up() {
			n.Connections = append(n.Connections, Connection{l.ID, l.Direction})
		}
	}
	return n
}

// decimals are ids as text; an unknown one in the middle of a route is 0.
func decimals(ids []uint64) []string {
	list := make([]string, len(ids))
	for i, id := range ids {
		if list[i] = hopID(id); id == 0 {
			list[i] = "0"
		}
	}
	return list
}
