package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/relay/topology"
)

const routesAbout = `Prints the way of each broadcast to a relay: where it is pulled from, at which
cost, and the rule that chose. With --why it prints every route of one broadcast,
leg by leg: what the neighbour asks, the price of the link to it and whose price
that is, and the sums that were compared; status 4 if the relay has no route to it.

URL is the relay's internal listener (internal.listen), by default
http://127.0.0.1:4480. The same listener shows /routes to a browser as a page.
`

// internalURL is where the files in configs/ have the internal listener.
const internalURL = "http://127.0.0.1:4480"

// Bounds on an answer.
const (
	routesTime  = 30 * time.Second
	routesBytes = 256 << 20
)

// routes is the command line of "moqmesh routes".
type routes struct {
	flags *flagSet
	base  *url.URL
	query topology.Query
	json  bool
}

// routesMain is "moqmesh routes".
func routesMain(ctx context.Context, args []string, std streams) int {
	r := newRoutes()
	err := r.parse(args)
	if err == nil {
		err = r.run(ctx, std)
	}
	return report(std, r.flags.Name(), err)
}

func newRoutes() *routes {
	f := newFlags("moqmesh routes", "[URL]", routesAbout)
	r := &routes{flags: f}
	f.StringVar(&r.query.Why, "why", "", "explain the broadcast `NAME`")
	f.StringVar(&r.query.Prefix, "prefix", "", "list the broadcasts at and below `PATH`")
	f.IntVar(&r.query.Limit, "limit", topology.DefaultLimit, "list at most `N` broadcasts")
	f.BoolVar(&r.json, "json", false, "print what the relay says, as JSON")
	return r
}

func (r *routes) parse(args []string) error {
	rest, err := r.flags.parse(args, 1)
	if err != nil {
		return err
	}
	at := internalURL
	if len(rest) > 0 {
		at = rest[0]
	}
	if !strings.Contains(at, "://") {
		at = "http://" + at
	}
	if r.base, err = url.Parse(at); err != nil || r.base.Host == "" || r.base.Scheme != "http" && r.base.Scheme != "https" {
		return r.flags.wrong("the address is not a URL of a relay's internal listener")
	}
	if _, err := topology.ParseQuery(r.query.Values()); err != nil {
		return r.flags.wrong("%w", err)
	}
	return nil
}

func (r *routes) run(ctx context.Context, std streams) error {
	doc, err := r.ask(ctx)
	if err != nil {
		return err
	}
	var d topology.Routes
	if err := json.Unmarshal(doc, &d); err != nil {
		return fmt.Errorf("read the answer of %s: %w", r.base.Host, err)
	}
	switch {
	case r.json:
		_, err = std.out.Write(doc)
	case d.Why != nil:
		err = printWhy(std.out, *d.Why)
	default:
		err = printRoutes(std.out, d)
	}
	if err == nil && d.Why != nil && len(d.Why.Candidates) == 0 {
		return fmt.Errorf("no route to %s is known: %w", topology.Printable(d.Why.Name), moq.ErrNotFound)
	}
	return err
}

// ask fetches the document.
func (r *routes) ask(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, routesTime)
	defer cancel()
	q := r.query.Values()
	q.Set("format", "json")
	at := r.base.JoinPath("routes")
	at.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	doc, err := io.ReadAll(io.LimitReader(res.Body, routesBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer of %s: %w", r.base.Host, err)
	case res.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("%s has no /routes: is it the internal listener of a moqmesh relay?", r.base.Host)
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answers %s", r.base.Host, res.Status)
	case len(doc) > routesBytes:
		return nil, fmt.Errorf("%s answers more than %d bytes: lower --limit", r.base.Host, routesBytes)
	}
	return doc, nil
}
