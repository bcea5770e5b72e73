package topology

import (
	"cmp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/moqmesh/moqmesh/cluster/route"
)

// Via says in words where a route comes from.
func (c Candidate) Via() string {
	switch {
	case c.Source == FromHere:
		return "here"
	case c.Source == FromClient:
		return "from a publisher's session"
	case c.Peer != "":
		return "via " + c.Peer
	case c.HopID != "":
		return "via hop " + c.HopID
	}
	return "via an unknown relay"
}

// Chain is the hops in words, the oldest first.
func (c Candidate) Chain() string {
	words := make([]string, len(c.Hops))
	for i, h := range c.Hops {
		words[i] = cmp.Or(h.Node, h.ID)
	}
	return strings.Join(words, " → ")
}

// Receives is what the neighbour asks, warm and cold.
func (c Candidate) Receives() string {
	return costText(c.ReceivedWarm) + " / " + costText(c.ReceivedCold)
}

// Link is the price of the last leg and whose it is; "" where there is none.
func (c Candidate) Link() string {
	if c.PriceFrom == "" {
		return ""
	}
	return "+" + costText(c.Price) + " " + c.PriceFrom
}

// Costs are the sums, warm and cold.
func (c Candidate) Costs() string { return costText(c.Warm) + " / " + costText(c.Cold) }

// costText is a cost as people read it.
func costText(c uint64) string {
	if c >= route.MaxCost {
		return "max"
	}
	return strconv.FormatUint(c, 10)
}

// Printable is a name as a terminal may show it: quoted where it holds what would
// not print, since anybody chooses the names of broadcasts.
func Printable(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) >= 0 {
		return strconv.Quote(name)
	}
	return name
}

// LossPercent is the loss with one decimal, "" where nothing was sent.
func (l Link) LossPercent() string {
	if l.Loss == nil {
		return ""
	}
	return strconv.FormatFloat(*l.Loss*100, 'f', 1, 64)
}

// SinceText is when the link's state began, in UTC.
func (l Link) SinceText() string { return time.Unix(l.Since, 0).UTC().Format("2006-01-02 15:04:05") }
