package topology

import (
	"strconv"

	"github.com/moqmesh/moqmesh/cluster"
)

// Link is one link with another relay, as JSON.
type Link struct {
	// Peer is the URL of the relay without query; of an inbound link that fits no
	// announcement, its address.
	Peer      string   `json:"peer"`
	Direction string   `json:"direction"`          // inbound or outbound
	ID        uint64   `json:"id,omitempty"`       // of its session in logs and in /sessions; 0 = none now
	Owners    []string `json:"owners,omitempty"`   // who wants it dialled, the one that decides first: connect, connect_api, gossip
	State     string   `json:"state"`              // connecting, connected, leaving, waiting or rejected
	Since     int64    `json:"since"`              // when that began, in Unix seconds
	Attempts  uint64   `json:"attempts,omitempty"` // dials since it is wanted
	Err       string   `json:"err,omitempty"`      // why the last one ended
	Price     uint64   `json:"price"`              // of what we pull over it
	PriceFrom string   `json:"price_from"`         // default, declared, own or measured
	HopID     string   `json:"hop_id,omitempty"`   // of the peer, decimal; "" = unknown
	Proto     string   `json:"proto,omitempty"`
	RTTms     float64  `json:"rtt_ms,omitempty"`
	Loss      *float64 `json:"loss,omitempty"` // share of the sent packets, 0 to 1; nil = nothing was sent
	Sent      uint64   `json:"bytes_sent,omitempty"`
	Received  uint64   `json:"bytes_received,omitempty"`
}

// Up says that the link has a session.
func (l Link) Up() bool { return l.ID != 0 }

func linksOf(list []cluster.LinkStatus) []Link {
	links := make([]Link, len(list))
	for i, s := range list {
		links[i] = linkOf(s)
	}
	return links
}

func linkOf(s cluster.LinkStatus) Link {
	l := Link{
		Peer: s.Peer, Direction: direction(s), ID: s.Conn, State: s.State.String(), Since: s.Since.Unix(),
		Attempts: s.Attempts, Err: s.Err, Price: s.Price, PriceFrom: s.PriceFrom.String(),
		HopID: hopID(s.HopID), Proto: s.Proto, RTTms: float64(s.Stats.RTT.Microseconds()) / 1000,
		Sent: s.Stats.BytesSent, Received: s.Stats.BytesReceived,
	}
	for _, o := range s.Owners {
		l.Owners = append(l.Owners, o.String())
	}
	if n := s.Stats.PacketsSent; n > 0 {
		share := float64(s.Stats.PacketsLost) / float64(n)
		l.Loss = &share
	}
	return l
}

func direction(s cluster.LinkStatus) string {
	if s.Inbound {
		return "inbound"
	}
	return "outbound"
}

// hopID is decimal text: readers in other languages lose digits of such numbers. ""
// is unknown.
func hopID(id uint64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatUint(id, 10)
}
