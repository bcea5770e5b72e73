package demo

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"math"
)

// Size of the pictures, and how many there are in a second and in a group.
const (
	Width, Height = 480, 270
	Rate          = 25
	GroupSize     = Rate
)

const quality = 70

// bars are the colours behind everything.
var bars = []color.RGBA{
	{0xd8, 0xd8, 0xd8, 255}, {0xd6, 0xc9, 0x2f, 255}, {0x2f, 0xc4, 0xc9, 255}, {0x3a, 0xb5, 0x4a, 255},
	{0xb5, 0x3a, 0xa8, 255}, {0xc4, 0x39, 0x35, 255}, {0x34, 0x4f, 0xc1, 255},
}

// painter makes the pictures. It uses one canvas again and again.
type painter struct {
	canvas *image.RGBA
	out    bytes.Buffer
}

func newPainter() *painter {
	return &painter{canvas: image.NewRGBA(image.Rect(0, 0, Width, Height))}
}

// paint returns picture n as a JPEG, valid until the next call: bars that wander,
// a bouncing square, and n in binary along the bottom, for those who check.
func (p *painter) paint(n uint64) ([]byte, error) {
	p.bars(n)
	p.square(n)
	p.counter(n)
	p.out.Reset()
	err := jpeg.Encode(&p.out, p.canvas, &jpeg.Options{Quality: quality})
	return p.out.Bytes(), err
}

func (p *painter) fill(r image.Rectangle, c color.RGBA) {
	draw.Draw(p.canvas, r.Intersect(p.canvas.Bounds()), image.NewUniform(c), image.Point{}, draw.Src)
}

func (p *painter) bars(n uint64) {
	const w = Width / 7 * 2
	shift := int(n*2) % (w * len(bars))
	for i := -1; i <= len(bars); i++ {
		x := i*w - shift%w
		p.fill(image.Rect(x, 0, x+w, Height), bars[(i+1+shift/w+len(bars))%len(bars)])
	}
}

func (p *painter) square(n uint64) {
	const side = 54
	x := bounce(n*5, Width-side)
	y := bounce(n*3, Height-side-20)
	p.fill(image.Rect(x-3, y-3, x+side+3, y+side+3), color.RGBA{255, 255, 255, 255})
	glow := uint8(128 + 127*math.Sin(float64(n)/8))
	p.fill(image.Rect(x, y, x+side, y+side), color.RGBA{20, glow, 60, 255})
}

// bounce goes to and fro between 0 and limit.
func bounce(n uint64, limit int) int {
	at := int(n % uint64(2*limit))
	return min(at, 2*limit-at)
}

func (p *painter) counter(n uint64) {
	const bit = Width / 32
	for i := range 32 {
		c := color.RGBA{0, 0, 0, 255}
		if n>>(31-i)&1 == 1 {
			c = color.RGBA{255, 255, 255, 255}
		}
		p.fill(image.Rect(i*bit, Height-14, (i+1)*bit, Height), c)
	}
}
