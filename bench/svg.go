package bench

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
)

// Sizes of the plot, in pixels.
const (
	plotLabels = 130 // column of labels
	plotBars   = 560 // longest bar
	plotRight  = 70  // for the figures behind the bars
	plotBar    = 14
	plotGap    = 10 // between groups of bars
	plotHead   = 50
)

// plotColours are those of the relays, in their order.
var plotColours = []string{"#1b6ca8", "#d98324", "#8a8a8a", "#5b8c3a", "#8e4585"}

// SVG plots relay CPU for each frame: a bar for the median of each relay under
// each load, and a line from the least to the most.
func (r *Report) SVG() []byte {
	p := &plot{scale: plotBars / max(r.mostCPU(), 1), y: plotHead}
	for i, a := range r.Relays {
		p.legend(i, a.Name)
	}
	r.eachCell(func(load Load, scheme string) {
		p.label(load.Name+" "+scheme, float64(len(r.Relays)*plotBar)/2)
		for i, a := range r.Relays {
			p.bar(i, r.spread(a.Name, load.Name, scheme, frameCPU))
		}
		p.y += plotGap
	})
	return p.finish()
}

// mostCPU is the longest bar or line.
func (r *Report) mostCPU() (most float64) {
	for _, m := range r.Measurements {
		most = max(most, m.FrameCPU)
	}
	return most
}

// plot draws from the top down.
type plot struct {
	body  bytes.Buffer
	scale float64 // pixels for a microsecond
	y     float64
}

func (p *plot) legend(i int, name string) {
	x := plotLabels + 180*i
	fmt.Fprintf(&p.body, `<rect x="%d" y="26" width="12" height="12" fill="%s"/>`, x, colour(i))
	fmt.Fprintf(&p.body, `<text x="%d" y="36">%s</text>`+"\n", x+18, escape(name))
}

func (p *plot) label(text string, below float64) {
	fmt.Fprintf(&p.body, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", plotLabels-8, p.y+below+4, escape(text))
}

func (p *plot) bar(i int, s Spread) {
	middle := p.y + plotBar/2
	fmt.Fprintf(&p.body, `<rect x="%d" y="%.1f" width="%.1f" height="%d" fill="%s"/>`, plotLabels, p.y+1, s.Median*p.scale, plotBar-2, colour(i))
	fmt.Fprintf(&p.body, `<line x1="%.1f" x2="%.1f" y1="%[3]f" y2="%[3]f" stroke="#222"/>`, plotLabels+s.Min*p.scale, plotLabels+s.Max*p.scale, middle)
	fmt.Fprintf(&p.body, `<text x="%.1f" y="%.1f">%.1f</text>`+"\n", plotLabels+s.Max*p.scale+6, middle+4, s.Median)
	p.y += plotBar
}

func (p *plot) finish() []byte {
	var b bytes.Buffer
	width, height := plotLabels+plotBars+plotRight, int(p.y)+10
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/><text x="%d" y="16" font-weight="bold">Relay CPU for each delivered frame, µs</text>`+"\n",
		width, height, plotLabels)
	b.Write(p.body.Bytes())
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func colour(i int) string { return plotColours[i%len(plotColours)] }

func escape(text string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}
