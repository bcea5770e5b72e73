package topology

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"maps"
	"slices"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string

	page = template.Must(template.New("page").Parse(pageHTML))
)

// ContentSecurityPolicy lets the page use its own style and send its form back, and
// nothing else.
var ContentSecurityPolicy = "default-src 'none'; style-src '" + styleHash() + "'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

func styleHash() string {
	sum := sha256.Sum256([]byte(pageCSS))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// view is what the page's template reads.
type view struct {
	Routes
	Query   Query
	Style   template.CSS
	JSON    string // where the document is
	Picture picture
	Rows    []pageRow
	Legend  []term
}

// pageRow is one broadcast and where it is explained.
type pageRow struct {
	Route
	Explain string
}

// term is a word of the tables, explained.
type term struct{ Word, Text string }

// WriteHTML writes the document as one page that needs nothing else; q is what was
// asked. It is meant to be served with ContentSecurityPolicy.
func (d Routes) WriteHTML(w io.Writer, q Query) error {
	v := view{Routes: d, Query: q, Style: template.CSS(pageCSS), Picture: d.picture(), Legend: d.legend()}
	values := q.Values()
	values.Set("format", "json")
	v.JSON = "routes?" + values.Encode()
	for _, r := range d.Routes {
		one := q
		one.Why = r.Name
		v.Rows = append(v.Rows, pageRow{r, "routes?" + one.Values().Encode()})
	}
	return page.Execute(w, v)
}

// legend explains the states and rules that the explained broadcast has, in order.
func (d Routes) legend() []term {
	if d.Why == nil {
		return nil
	}
	states, rules := make(map[string]string), make(map[string]string)
	for _, c := range d.Why.Candidates {
		states[c.State], rules[c.Rule] = StateTexts[c.State], RuleTexts[c.Rule]
	}
	var list []term
	for _, texts := range []map[string]string{states, rules} {
		for _, word := range slices.Sorted(maps.Keys(texts)) {
			list = append(list, term{word, cmp.Or(texts[word], "-")})
		}
	}
	return list
}
