package topology

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/moqmesh/moqmesh/cluster"
)

func render(t *testing.T, d Routes, q Query) string {
	t.Helper()
	var b strings.Builder
	if err := d.WriteHTML(&b, q); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPageSaysWhatTheDocumentSays(t *testing.T) {
	q := Query{Limit: DefaultLimit, Why: "cam"}
	text := render(t, Describe(mesh(t), q), q)
	for _, want := range []string{
		"<title>Routes of https://self.example/</title>",
		`href="routes?format=json&amp;why=cam"`,
		`href="routes?why=shows%2Fclient"`,
		`aria-labelledby="picture-title picture-text"`,
		"Broadcast cam has 2 routes. It is pulled via https://a.example/ at cost 4; rule: cheaper.",
		`<tr class="chosen"><th scope="row">via https://a.example/</th>`,
		`<td class="chain">33 → https://c.example/ → https://b.example/</td>`,
		"<dt>cheaper</dt><dd>" + RuleTexts["cheaper"],
		`<path class="leg chosen" d="M`, `<text class="label start chosen"`,
		"timeout", "25.0",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, word := range []string{"<script", "http-equiv", "style=", "ZgotmplZ"} {
		if strings.Contains(text, word) {
			t.Errorf("the page holds %q", word)
		}
	}
}

// The policy names the style as it is on the page.
func TestPageStyleIsAllowed(t *testing.T) {
	text := render(t, Describe(mesh(t), Query{Limit: 1}), Query{Limit: 1})
	_, rest, _ := strings.Cut(text, "<style>")
	style, _, ok := strings.Cut(rest, "</style>")
	if !ok || style != pageCSS {
		t.Errorf("the page changes its style: %d bytes of %d", len(style), len(pageCSS))
	}
	if !strings.Contains(ContentSecurityPolicy, styleHash()) || strings.Contains(ContentSecurityPolicy, "unsafe") {
		t.Errorf("policy %q", ContentSecurityPolicy)
	}
}

// Anybody chooses names.
func TestPageEscapes(t *testing.T) {
	const evil = `"><script>alert(1)</script>&`
	d := Routes{
		Node: evil, OriginID: "1", Links: []Link{{Peer: evil, Err: evil, State: "waiting"}},
		Routes: []Route{{Name: evil, Serving: &Candidate{Peer: evil, Hops: []Hop{{Node: evil}}}}},
		Why:    &Why{Name: evil, Candidates: []Candidate{{Source: FromPeer, Peer: evil, State: "standby", Hops: []Hop{{Node: evil, ID: "1"}}}}},
	}
	text := render(t, d, Query{Prefix: evil, Why: evil, Limit: 1})
	if strings.Contains(text, "<script") || strings.Contains(text, `"">`) {
		t.Error("a name got through as markup")
	}
}

// The picture is well-formed where it is cut out as a file of its own.
func TestPictureIsXML(t *testing.T) {
	q := Query{Limit: 1, Why: "cam"}
	text := render(t, Describe(mesh(t), q), q)
	begin, end := strings.Index(text, "<svg"), strings.Index(text, "</svg>")
	if begin < 0 || end < 0 {
		t.Fatal("no picture")
	}
	dec := xml.NewDecoder(strings.NewReader(text[begin : end+len("</svg>")]))
	for {
		_, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// check finds boxes out of the picture or on each other.
func check(t *testing.T, p picture) {
	t.Helper()
	for i, b := range p.Boxes {
		if b.X < margin || b.Y < margin || b.X+b.W > p.Width-margin || b.Y+b.H > p.Height-margin {
			t.Errorf("box %q at %d,%d is out of the picture of %d x %d", b.Title, b.X, b.Y, p.Width, p.Height)
		}
		for _, o := range p.Boxes[:i] {
			if b.X < o.X+o.W && o.X < b.X+b.W && b.Y < o.Y+o.H && o.Y < b.Y+b.H {
				t.Errorf("boxes %q and %q lie on each other", b.Title, o.Title)
			}
		}
	}
}

func TestPictureOfABroadcast(t *testing.T) {
	p := Describe(mesh(t), Query{Limit: 1, Why: "cam"}).picture()
	check(t, p)
	var chosen, titles []string
	for _, b := range p.Boxes {
		titles = append(titles, b.Title)
		if b.Class == "hop chosen" {
			chosen = append(chosen, b.Title)
		}
	}
	if got := strings.Join(chosen, " "); got != "a.example hop 33" {
		t.Errorf("chosen are %q", got)
	}
	// the routes hop by hop from here, then the links that offer nothing
	const want = "self.example a.example hop 33 b.example c.example hop 33 d.example 192.0.2.7:4443"
	if got := strings.Join(titles, " "); got != want {
		t.Errorf("boxes %q, want %q", got, want)
	}
	legs := 0
	for _, l := range p.Lines {
		if l.Class == "chosen" {
			legs++
		}
	}
	if legs != 2 || p.Lines[0].Label != "+3 own" || len(p.Lines) != len(p.Boxes)-1 {
		t.Errorf("%d chosen legs of %d, the first says %q", legs, len(p.Lines), p.Lines[0].Label)
	}
}

// However much there is, the picture stays of one size and says what it leaves out.
func TestPictureIsBounded(t *testing.T) {
	d := Routes{Why: &Why{Name: "x"}}
	for range 100 {
		d.Links = append(d.Links, Link{Peer: "https://peer.example/", State: "waiting", HopID: "9"})
		c := Candidate{Source: FromPeer, State: "standby", HopID: "8"}
		for range 32 {
			c.Hops = append(c.Hops, Hop{ID: "4611686018427387901"})
		}
		d.Why.Candidates = append(d.Why.Candidates, c)
	}
	p := d.picture()
	check(t, p)
	if p.LeftOut != 2*(100-maxRows) || len(p.Boxes) != 1+maxRows*(maxBoxes+1) {
		t.Errorf("%d boxes, %d left out", len(p.Boxes), p.LeftOut)
	}
	if got := p.Boxes[3].Title; got != "29 more hops" {
		t.Errorf("the third of 32 hops says %q", got)
	}
	if got := p.Boxes[4].Sub; got != "origin" {
		t.Errorf("the last box says %q, want the publisher's relay", got)
	}
}

func TestPictureOfARelayOnItsOwn(t *testing.T) {
	r := mesh(t)
	r.Links, r.Nodes, r.Node = nil, nil, ""
	p := Describe(r, Query{Limit: 1}).picture()
	check(t, p)
	if len(p.Boxes) != 1 || p.Boxes[0].Title != "this relay" {
		t.Errorf("boxes %+v", p.Boxes)
	}
	p = Describe(r, Query{Limit: 1, Why: "shows/client"}).picture()
	check(t, p)
	if len(p.Boxes) != 2 || p.Boxes[1].Title != "publisher" {
		t.Errorf("boxes %+v", p.Boxes)
	}
}

func TestPictureWithoutABroadcast(t *testing.T) {
	d := Routes{Links: linksOf(append([]cluster.LinkStatus(nil), testLinks()...))}
	p := d.picture()
	check(t, p)
	if len(p.Boxes) != 5 || p.LeftOut != 0 {
		t.Errorf("%d boxes, %d left out", len(p.Boxes), p.LeftOut)
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"demo/cam": "demo/cam", "größe": "größe", "a\x1b[31m": `"a\x1b[31m"`, "a\u202eb": `"a\u202eb"`, "\xff": `"\xff"`,
	} {
		if got := Printable(in); got != want {
			t.Errorf("Printable(%q) = %s, want %s", in, got, want)
		}
	}
}
