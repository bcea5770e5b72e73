package demo

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"math"
	"strconv"
	"time"
)

// Size of the pictures, and how many there are in a second and in a group.
const (
	Width, Height = 480, 270
	Rate          = 25
	GroupSize     = Rate
)

const (
	quality = 70 // of the JPEG, 1 to 100
	strip   = 44 // pixels at the bottom for the clock and the number
)

var (
	black = color.RGBA{0, 0, 0, 255}
	white = color.RGBA{255, 255, 255, 255}
	grey  = color.RGBA{170, 170, 170, 255}
)

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

// paint returns picture n as a JPEG, valid until the next call: bars that wander, a
// bouncing square, and below them the clock (UTC) and n, for those who compare.
func (c *painter) paint(n uint64, now time.Time) ([]byte, error) {
	c.bars(n)
	c.square(n)
	c.fill(image.Rect(0, Height-strip, Width, Height), black)
	c.write(now.UTC().Format("15:04:05.00"), image.Pt(16, Height-strip+7), 6, white)
	c.write(strconv.FormatUint(n, 10), image.Pt(Width-150, Height-strip+17), 3, grey)
	c.out.Reset()
	err := jpeg.Encode(&c.out, c.canvas, &jpeg.Options{Quality: quality})
	return c.out.Bytes(), err
}

func (c *painter) fill(r image.Rectangle, ink color.RGBA) {
	draw.Draw(c.canvas, r.Intersect(c.canvas.Bounds()), image.NewUniform(ink), image.Point{}, draw.Src)
}

func (c *painter) bars(n uint64) {
	const w = Width / 7 * 2
	shift := int(n * 2 % uint64(w*len(bars)))
	for i := -1; i <= len(bars); i++ {
		x := i*w - shift%w
		c.fill(image.Rect(x, 0, x+w, Height), bars[(i+1+shift/w+len(bars))%len(bars)])
	}
}

func (c *painter) square(n uint64) {
	const side, edge = 54, 3
	x := edge + bounce(n*5, Width-side-2*edge)
	y := edge + bounce(n*3, Height-strip-side-2*edge)
	c.fill(image.Rect(x-edge, y-edge, x+side+edge, y+side+edge), white)
	glow := uint8(128 + 127*math.Sin(float64(n)/8))
	c.fill(image.Rect(x, y, x+side, y+side), color.RGBA{20, glow, 60, 255})
}

// bounce goes to and fro between 0 and limit.
func bounce(n uint64, limit int) int {
	at := int(n % uint64(2*limit))
	return min(at, 2*limit-at)
}
