package peers

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Entry is one peer as somebody wants it dialled. Two entries are equal when the peer is to be dialled in the same
// way, however they were written.
type Entry struct {
	Key    Key
	Query  string // of the URL, without cost and token; sent when dialling
	Cost   Price  // of what we pull over the link; the zero value leaves it to the peer
	Egress Price  // what we declare to the peer; never Auto, the zero value says Cost
	Token  string // credential; "" = none of its own
	ID     uint64 // the peer's hop id where the wire carries none; 0 = unknown
}

// Price is a link price. The zero value says nothing.
type Price struct {
	N    uint64 // unitless, at most wire.MaxVarint; meaningful where Set
	Set  bool
	Auto bool // to be derived from what is measured; never together with Set
}

// Fixed is a price of n, or of wire.MaxVarint where n is more.
func Fixed(n uint64) Price { return Price{N: min(n, wire.MaxVarint), Set: true} }

// Auto is a price that follows what is measured.
var Auto = Price{Auto: true}

// String is the price as a URL has it, or "" for none.
func (p Price) String() string {
	switch {
	case p.Auto:
		return "auto"
	case p.Set:
		return strconv.FormatUint(p.N, 10)
	}
	return ""
}

// Declared is what the peer is told that pulling from us costs. The zero value: nothing.
func (e Entry) Declared() Price {
	if e.Egress.Set {
		return e.Egress
	}
	if e.Cost.Auto {
		return Price{}
	}
	return e.Cost
}

// DialURL is where to dial, with the entry's own token or else fallback; "" for none. It must not be logged.
func (e Entry) DialURL(fallback string) string {
	query := e.Query
	if token := cmp.Or(e.Token, fallback); token != "" {
		if query != "" {
			query += "&"
		}
		query += "jwt=" + url.QueryEscape(token)
	}
	if query == "" {
		return string(e.Key)
	}
	return string(e.Key) + "?" + query
}

// String shows the key alone: everything else may hold a secret.
func (e Entry) String() string { return string(e.Key) }

// GoString is String, so that no verb of fmt shows more.
func (e Entry) GoString() string { return e.String() }

// Parse reads a full URL, or a bare host or host:port, which is taken as https and reported as such. "?cost=" and
// "?jwt=" are taken out of the query; an empty one of these counts as absent. Errors do not repeat s.
func Parse(s string) (e Entry, bare bool, err error) {
	if !strings.Contains(s, "://") {
		if s == "" {
			return e, false, errors.New("empty")
		}
		s, bare = "https://"+s, true
	}
	u, err := parseURL(s)
	if err != nil {
		return e, bare, err
	}
	e.Key = keyOf(u)
	if err := e.takeQuery(u.RawQuery); err != nil {
		return e, bare, err
	}
	if len(e.Key)+len(e.Query) >= longest { // escaping has made it longer
		return e, bare, errTooLong
	}
	return e, bare, nil
}

// takeQuery splits the query into what is for us and what goes to the peer, which keeps its order and spelling.
func (e *Entry) takeQuery(raw string) error {
	var rest []string
	for part := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(part, "=")
		value, err := url.QueryUnescape(value)
		switch {
		case part == "":
		case name != "cost" && name != "jwt":
			rest = append(rest, part)
		case err != nil:
			return fmt.Errorf("%s= is not encoded as a URL's query", name)
		case value == "":
		case name == "jwt":
			if e.Token != "" {
				return errors.New("jwt= given twice")
			}
			e.Token = value
		default:
			if e.Cost != (Price{}) {
				return errors.New("cost= given twice")
			}
			if e.Cost, err = parsePrice(value); err != nil {
				return err
			}
		}
	}
	e.Query = strings.Join(rest, "&")
	return nil
}

func parsePrice(s string) (Price, error) {
	if s == "auto" {
		return Auto, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		const most = 32
		return Price{}, fmt.Errorf("invalid cost %q on cluster peer URL: want a whole number or auto", s[:min(len(s), most)])
	}
	return Fixed(n), nil
}
