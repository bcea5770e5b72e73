package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/internal/source"
	"github.com/moqmesh/moqmesh/moq"
)

// Config says whom to link with. It is not changed once handed over.
type Config struct {
	// Static are the peers of the configuration, each at most once; see peers.Unique. They are never given up.
	Static []peers.Entry
	// Token is presented to peers whose entry has none; "" = nothing. See ReadToken.
	Token string
	// Node is this relay's own URL, as others reach it; "" = not said. It is announced and logged: a token in it is
	// an error.
	Node string
	// Mesh announces Node, and dials the relays that announce themselves. It needs Node. A relay that has neither
	// Static nor ConnectAPI waits to be dialled.
	Mesh bool
	// ConnectAPI is a URL or file of a JSON array of further peers; "" = none.
	ConnectAPI string
	// Client fetches ConnectAPI; nil means http.DefaultClient.
	Client *http.Client
	// Dial makes the sessions. It may be nil only where nothing is ever dialled.
	Dial Dial
	// Origin is the relay's name space; adverts are read and published there.
	Origin *moq.Origin
	// Redirect is where a peer that asks us to leave may send us.
	Redirect peers.RedirectPolicy
	// Handover is how long a session may serve beside its replacement after that. Zero means 10 s.
	Handover time.Duration
	// Log receives the events; nil discards them.
	Log *slog.Logger
	// Counters may be read at any time; nil means nobody does.
	Counters *Counters

	random func() float64 // from 0 to 1; nil = at random
}

// maxToken bounds the file of a token, in bytes.
const maxToken = 64 << 10

// ReadToken reads the file of Config.Token, without white space around it.
func ReadToken(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("failed to read cluster token: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxToken+1))
	token := strings.TrimSpace(string(b))
	switch {
	case err != nil:
		return "", fmt.Errorf("failed to read cluster token: %w", err)
	case len(b) > maxToken || token == "":
		return "", fmt.Errorf("failed to read cluster token: %s is empty or longer than %d bytes", file, maxToken)
	}
	return token, nil
}

func (c Config) withDefaults() Config {
	c.Handover = cmp.Or(c.Handover, 10*time.Second)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	c.Counters = cmp.Or(c.Counters, new(Counters))
	if c.random == nil {
		c.random = rand.Float64
	}
	return c
}

// check reports everything that is wrong with c, and returns the key of Node.
func (c Config) check() (own peers.Key, err error) {
	var errs []error
	fail := func(holds bool, text string) {
		if holds {
			errs = append(errs, errors.New(text))
		}
	}
	if c.Node != "" {
		e, err := peers.ParseNode(c.Node)
		if err != nil {
			errs = append(errs, fmt.Errorf("cluster node: %w", err))
		}
		own = e.Key
	}
	fail(c.Mesh && c.Node == "", "--cluster-mesh needs --cluster-node")
	fail(c.Dial == nil && (len(c.Static) > 0 || c.ConnectAPI != ""), "cluster peers without a way to dial them")
	fail(c.Origin == nil, "cluster without an origin")
	_, err = peers.Unique(c.Static, own)
	return own, errors.Join(append(errs, err)...)
}

// list is the source of cluster.connect_api.
func (c Config) list(own peers.Key) (*source.Source[[]peers.Entry], error) {
	at := c.ConnectAPI
	lines := source.Lines{
		Reloaded:   "cluster.connect_api peer list changed",
		Unreadable: "failed to read cluster.connect_api file; keeping current peers",
		Refused:    "invalid cluster.connect_api peer list; keeping current peers",
		Unwatched:  "failed to watch cluster.connect_api file; polling instead",
		RefusedFor: noList,
	}
	if scheme, _, _ := strings.Cut(strings.ToLower(at), "://"); scheme == "http" || scheme == "https" {
		at = withNode(at, c.Node)
		lines.Unreadable = "cluster.connect_api fetch failed; keeping current peers"
		lines.RefusedFor = nil
	}
	s, err := source.New(source.Config[[]peers.Entry]{
		Locations: []string{at},
		Parse:     source.One(func(doc []byte) ([]peers.Entry, error) { return peers.ParseList(doc, own) }),
		Client:    c.Client, Log: c.Log, Lines: lines,
	})
	if err != nil {
		return nil, fmt.Errorf("cluster.connect_api: %w", err)
	}
	return s, nil
}

// noList tells a file that is no list at all from one with a bad peer.
func noList(err error) string {
	if errors.Is(err, peers.ErrNotList) {
		return "cluster.connect_api file is not a JSON array of peers; keeping current peers"
	}
	return ""
}

// withNode tells the server who asks.
func withNode(at, node string) string {
	if node == "" {
		return at
	}
	at, _, _ = strings.Cut(at, "#")
	mark := "?"
	if strings.Contains(at, "?") {
		mark = "&"
	}
	return at + mark + "node=" + url.QueryEscape(node)
}

// List is how the list of Config.ConnectAPI does; the zero value where there is none.
func (c *Cluster) List() source.Status {
	if c.api == nil {
		return source.Status{}
	}
	return c.api.Status()
}
