package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/moqmesh/moqmesh/relay/topology"
)

// printRoutes prints one line for each broadcast.
func printRoutes(out io.Writer, d topology.Routes) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "BROADCAST\tPULLED\tCOST (WARM / COLD)\tRULE\tROUTES")
	for _, r := range d.Routes {
		via, costs, rule := "not any more", "", ""
		if s := r.Serving; s != nil {
			via, costs, rule = s.Via(), s.Costs(), s.Rule
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\n", name(r.Name), via, costs, rule, r.Candidates)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if !d.Truncated {
		return nil
	}
	_, err := fmt.Fprintf(out, "%d of %d broadcasts: narrow it with --prefix, or raise --limit\n", len(d.Routes), d.Total)
	return err
}

// name is how a broadcast is printed. The empty one has to be seen, too.
func name(s string) string { return cmp.Or(topology.Printable(s), `""`) }

// printWhy prints the routes of one broadcast, and what the words mean.
func printWhy(out io.Writer, y topology.Why) error {
	if len(y.Candidates) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "ROUTE\tSTATE\tRULE\tRECEIVED (WARM / COLD)\tLINK\tSUM\tHOPS, THE OLDEST FIRST")
	words := make(map[string]string)
	for _, c := range y.Candidates {
		words[c.State], words[c.Rule] = topology.StateTexts[c.State], topology.RuleTexts[c.Rule]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Via(), c.State, c.Rule, c.Receives(), cmp.Or(c.Link(), "-"), c.Costs(), cmp.Or(c.Chain(), "-"))
	}
	fmt.Fprintln(w)
	for _, word := range slices.Sorted(maps.Keys(words)) {
		fmt.Fprintf(w, "%s\t%s\n", word, words[word])
	}
	if y.Truncated {
		fmt.Fprintf(w, "\nThere are more than these %d routes.\n", len(y.Candidates))
	}
	return w.Flush()
}
