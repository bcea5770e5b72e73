package demo

import (
	"image"
	"image/color"
)

// Size of a glyph, in dots, and the distance from one to the next.
const (
	glyphWidth, glyphHeight = 3, 5
	glyphAdvance            = glyphWidth + 1
)

// glyphs are rows of dots from the top, the leftmost dot in the highest of three bits.
var glyphs = map[rune][glyphHeight]uint8{
	'0': {7, 5, 5, 5, 7}, '1': {2, 6, 2, 2, 7}, '2': {7, 1, 7, 4, 7}, '3': {7, 1, 7, 1, 7}, '4': {5, 5, 7, 1, 1},
	'5': {7, 4, 7, 1, 7}, '6': {7, 4, 7, 5, 7}, '7': {7, 1, 1, 1, 1}, '8': {7, 5, 7, 5, 7}, '9': {7, 5, 7, 1, 7},
	':': {0, 2, 0, 2, 0}, '.': {0, 0, 0, 0, 2},
}

// write draws text, digits and their punctuation, with dots of the given size and
// its corner at p.
func (c *painter) write(text string, p image.Point, dot int, ink color.RGBA) {
	for _, r := range text {
		c.glyph(glyphs[r], p, dot, ink)
		p.X += glyphAdvance * dot
	}
}

func (c *painter) glyph(rows [glyphHeight]uint8, p image.Point, dot int, ink color.RGBA) {
	for y, row := range rows {
		for x := range glyphWidth {
			if row>>(glyphWidth-1-x)&1 == 1 {
				at := p.Add(image.Pt(x*dot, y*dot))
				c.fill(image.Rectangle{Min: at, Max: at.Add(image.Pt(dot, dot))}, ink)
			}
		}
	}
}
