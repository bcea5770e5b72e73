package topology

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// The sizes of a picture, in pixels.
const (
	boxWidth, boxHeight = 160, 44
	rowStep             = 64 // from one row to the next
	legGap              = 26 // between two boxes of a route
	linkGap             = 90 // between a neighbour and the relay in the middle
	margin              = 12
)

// What a picture holds at most; the tables beside it have the rest.
const (
	maxRows  = 12 // on each side
	maxBoxes = 4  // of one route
)

// picture is this relay in the middle, and around it its links: with a broadcast the
// routes of that to the left, hop by hop, and the other links to the right.
type picture struct {
	Width, Height int
	Summary       string // what there is to see, in words
	Boxes         []box
	Lines         []line
	LeftOut       int // links and routes that did not fit
}

// box is a relay, a publisher, or hops that were left out.
type box struct {
	X, Y       int // of its top left corner
	W, H       int
	Title, Sub string
	Full       string // all of the title
	Class      string
}

// TextX and the following are where the text of a box stands.
func (b box) TextX() int  { return b.X + b.W/2 }
func (b box) TitleY() int { return b.Y + b.H/2 - 4 }
func (b box) SubY() int   { return b.Y + b.H/2 + 13 }

// line leads from one box to another, as a curve that leaves and arrives level.
type line struct {
	X1, Y1, X2, Y2 int
	Label          string
	LabelX, LabelY int
	Anchor         string // of the label: start or end
	Class          string // that of the row
}

// Path is the line's shape in SVG.
func (l line) Path() string {
	mid := (l.X1 + l.X2) / 2
	return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", l.X1, l.Y1, mid, l.Y1, mid, l.Y2, l.X2, l.Y2)
}

// row is what leads to the relay on one side: the neighbour first, then what lies
// behind it.
type row struct {
	boxes []box
	label string // of the link
	class string // "chosen", "down" or ""
}

// picture draws what the document says.
func (d Routes) picture() picture {
	left, right := d.sides()
	p := picture{Summary: d.summary()}
	p.LeftOut = max(len(left)-maxRows, 0) + max(len(right)-maxRows, 0)
	left, right = left[:min(len(left), maxRows)], right[:min(len(right), maxRows)]
	deepest := 0
	for _, r := range left {
		deepest = max(deepest, len(r.boxes))
	}
	rows := max(len(left), len(right), 1)
	p.Height = rows*rowStep + 2*margin
	middle := box{X: margin, Y: margin, W: boxWidth, H: p.Height - 2*margin, Class: "self"}
	if deepest > 0 {
		middle.X += deepest*boxWidth + (deepest-1)*legGap + linkGap
	}
	middle.Full = cmp.Or(d.Node, "this relay")
	middle.Title, middle.Sub = shortURL(middle.Full), "hop "+cmp.Or(shortID(d.OriginID), "id withheld")
	p.Boxes = append(p.Boxes, middle)
	for i, r := range left {
		p.place(r, rowY(i, len(left), p.Height), middle.X, -1)
	}
	for i, r := range right {
		p.place(r, rowY(i, len(right), p.Height), middle.X+middle.W, 1)
	}
	p.Width = middle.X + middle.W + margin
	if len(right) > 0 {
		p.Width += linkGap + boxWidth
	}
	return p
}

// rowY is the top of the i-th of n rows, which stand around the middle.
func rowY(i, n, height int) int { return (height-n*rowStep)/2 + i*rowStep + (rowStep-boxHeight)/2 }

// place adds a row that ends at x, the edge of the relay in the middle. way is -1 to
// the left of it and 1 to the right.
func (p *picture) place(r row, y, x, way int) {
	center := y + boxHeight/2
	at := x
	for i, b := range r.boxes {
		gap := legGap
		if i == 0 {
			gap = linkGap
		}
		near := at + way*gap
		b.X, b.Y, b.W, b.H = min(near, near+way*boxWidth), y, boxWidth, boxHeight
		l := line{X1: near, Y1: center, X2: at, Y2: center, Class: r.class}
		if i == 0 {
			l.Label, l.LabelX, l.LabelY, l.Anchor = r.label, near-way*6, center-7, "start"
			if way > 0 {
				l.Anchor = "end"
			}
		}
		p.Boxes, p.Lines = append(p.Boxes, b), append(p.Lines, l)
		at = near + way*boxWidth
	}
}

// sides are the rows on the left and on the right.
func (d Routes) sides() (left, right []row) {
	if d.Why == nil {
		half := (len(d.Links) + 1) / 2
		return linkRows(d.Links[:half]), linkRows(d.Links[half:])
	}
	offering := make(map[string]bool)
	for _, c := range d.Why.Candidates {
		left = append(left, d.routeRow(c))
		offering[c.HopID] = c.HopID != ""
	}
	others := slices.DeleteFunc(slices.Clone(d.Links), func(l Link) bool { return offering[l.HopID] })
	return left, linkRows(others)
}

func linkRows(links []Link) []row {
	rows := make([]row, len(links))
	for i, l := range links {
		rows[i] = row{boxes: []box{linkBox(l)}, label: priceLabel(l.Price, l.PriceFrom)}
		if !l.Up() {
			rows[i].class = "down"
		}
	}
	return rows
}

func linkBox(l Link) box {
	b := box{Title: shortURL(l.Peer), Full: l.Peer, Sub: l.State, Class: "link " + l.State}
	if l.RTTms > 0 {
		b.Sub += fmt.Sprintf(" · %.1f ms", l.RTTms)
	}
	return b
}

// routeRow draws one candidate. Of a long one, hops behind the neighbour are left
// out, but not the publisher.
func (d Routes) routeRow(c Candidate) row {
	r := row{label: priceLabel(c.Price, c.PriceFrom)}
	switch c.State {
	case "serving":
		r.class = "chosen"
	case "standby", "leaving":
	default:
		r.class = "down"
	}
	switch c.Source {
	case FromHere:
		r.label = ""
		r.boxes = []box{{Title: "published here", Full: "published here", Sub: stateAndCost(c)}}
	case FromClient:
		r.boxes = []box{{Title: "publisher", Full: "a session that is no relay's", Sub: stateAndCost(c)}}
	default:
		r.boxes = d.hopBoxes(c)
	}
	for i := range r.boxes {
		r.boxes[i].Class = strings.TrimSpace("hop " + r.class)
	}
	return r
}

// hopBoxes are the hops of a forwarded route, the neighbour first.
func (d Routes) hopBoxes(c Candidate) []box {
	var boxes []box
	for i, h := range slices.Backward(c.Hops) {
		b := box{Title: shortURL(h.Node), Full: h.Node, Sub: "hop " + shortID(h.ID)}
		if h.Node == "" {
			b.Title, b.Full = "hop "+shortID(h.ID), "hop "+h.ID
			b.Sub = "relay"
		}
		if i == 0 {
			b.Sub = "origin"
		}
		boxes = append(boxes, b)
	}
	if len(boxes) == 0 {
		boxes = []box{{Title: cmp.Or(shortURL(c.Peer), "unknown"), Full: c.Peer}}
	}
	boxes[0].Sub = stateAndCost(c)
	if more := len(boxes) - maxBoxes; more > 0 {
		gap := box{Title: fmt.Sprintf("%d more hops", more+1), Sub: "not drawn"}
		boxes = slices.Replace(boxes, maxBoxes-2, len(boxes)-1, gap)
	}
	return boxes
}

func stateAndCost(c Candidate) string { return fmt.Sprintf("%s · cost %s", c.State, costText(c.Warm)) }

func priceLabel(price uint64, from string) string {
	if from == "" || from == "default" {
		return "+" + costText(price)
	}
	return "+" + costText(price) + " " + from
}

// shortURL is what tells relays apart: the host and port, and a path if there is one.
func shortURL(s string) string {
	u, err := url.Parse(s)
	if err == nil && u.Host != "" {
		s = u.Host + strings.TrimSuffix(u.Path, "/")
	}
	return middleOut(s, 23)
}

// shortID is enough of a hop id to tell a few apart.
func shortID(s string) string { return middleOut(s, 9) }

// middleOut cuts runes from the middle, so that at most limit are left.
func middleOut(s string, limit int) string {
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	half := (limit - 1) / 2
	return string(r[:limit-1-half]) + "…" + string(r[len(r)-half:])
}

// summary is the picture in a few sentences.
func (d Routes) summary() string {
	up := 0
	for _, l := range d.Links {
		if l.Up() {
			up++
		}
	}
	s := fmt.Sprintf("%d links with other relays, %d of them up.", len(d.Links), up)
	if d.Why == nil {
		return s
	}
	s += fmt.Sprintf(" Broadcast %s has %d routes.", d.Why.Name, len(d.Why.Candidates))
	for _, c := range d.Why.Candidates {
		if c.State == "serving" {
			return s + fmt.Sprintf(" It is pulled %s at cost %s; rule: %s.", c.Via(), costText(c.Warm), c.Rule)
		}
	}
	return s
}
